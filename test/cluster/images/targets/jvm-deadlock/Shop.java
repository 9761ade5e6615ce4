import java.util.concurrent.CountDownLatch;

/**
 * A shop that is stuck: two threads wait for each other's lock, a third waits behind them, and one computes prices. HOT is the share of a core that
 * this one takes (0 to 1; default 0.4).
 */
public final class Shop {
    static final class Orders {}

    static final class Stock {}

    private static final Orders ORDERS = new Orders();
    private static final Stock STOCK = new Stock();
    private static final CountDownLatch BOTH_HOLD_ONE = new CountDownLatch(2);
    static volatile long total;

    public static void main(String[] words) throws Exception {
        String hot = System.getenv("HOT");
        double share = hot == null ? 0.4 : Double.parseDouble(hot);
        new Thread(Shop::placeOrders, "order-worker").start();
        new Thread(Shop::countStock, "stock-worker").start();
        new Thread(() -> loopOverPrices(share), "price-loop").start();
        BOTH_HOLD_ONE.await();
        new Thread(Shop::report, "report-worker").start();
        System.out.println("ready");
    }

    static void placeOrders() {
        synchronized (ORDERS) {
            waitForTheOther();
            synchronized (STOCK) {
                System.out.println("an order");
            }
        }
    }

    static void countStock() {
        synchronized (STOCK) {
            waitForTheOther();
            synchronized (ORDERS) {
                System.out.println("a count");
            }
        }
    }

    /** Until both have their first lock, however slow the machine is. */
    private static void waitForTheOther() {
        BOTH_HOLD_ONE.countDown();
        try {
            BOTH_HOLD_ONE.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static void report() {
        synchronized (ORDERS) {
            System.out.println("a report");
        }
    }

    static void loopOverPrices(double share) {
        while (true) {
            long until = System.nanoTime() + (long) (share * 100_000_000);
            while (System.nanoTime() < until) total += recompute(20_000);
            if (share < 1) pause((long) ((1 - share) * 100));
        }
    }

    static long recompute(int prices) {
        long sum = 0;
        for (int price = 1; price < prices; price++) sum += discount(price);
        return sum;
    }

    /** Not with Math's functions: the JVM's own recorder cannot see into those. */
    static long discount(int price) {
        long rest = price;
        while (rest > 7) rest = rest % 2 == 0 ? rest / 2 : (3 * rest + 1) / 4;
        return rest;
    }

    private static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
