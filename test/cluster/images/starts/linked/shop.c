/* Linked with a library that its image lacks. */
extern int price(void);
int main(void) { return price(); }
