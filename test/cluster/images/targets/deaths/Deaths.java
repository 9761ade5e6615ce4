import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import sun.misc.Unsafe;

/** A program of Java that ends in the way that its argument names, once there is a byte to read. */
public class Deaths {
    static void bill(int[] orders) {
        throw new AssertionError("an order without lines: " + orders.length);
    }

    static void write(Unsafe memory) {
        memory.putAddress(0, 0);
    }

    static void grow() {
        List<byte[]> kept = new ArrayList<>();
        for (;;) kept.add(new byte[1 << 20]);
    }

    public static void main(String[] words) throws Exception {
        System.out.println("ready");
        System.in.read();
        switch (words[0]) {
            case "error" -> bill(new int[0]);
            case "exit" -> System.exit(6);
            case "heap" -> grow();
            default -> {
                Field field = Unsafe.class.getDeclaredField("theUnsafe");
                field.setAccessible(true);
                write((Unsafe) field.get(null));
            }
        }
    }
}
