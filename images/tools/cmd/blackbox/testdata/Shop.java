// A program of Java that waits in a function of its own.
public class Shop {
    static void waitForStock() throws Exception {
        Thread.sleep(1000_000);
    }

    public static void main(String[] words) throws Exception {
        System.out.println("ready");
        System.in.read();
        waitForStock();
    }
}
