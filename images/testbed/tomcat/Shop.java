import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** A small shop on Tomcat with ten threads: what it asks, it asks its upstream on port 9999, without a time limit. */
public class Shop extends HttpServlet {
    static final ReentrantLock STOCK = new ReentrantLock();
    static final Object ORDERS = new Object();
    static final Object SHELF = new Object();
    static final CountDownLatch BOTH = new CountDownLatch(2);
    static final List<byte[]> CACHE = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir("/tmp/tomcat");
        tomcat.setPort(8080);
        tomcat.getConnector().setProperty("maxThreads", "10");
        tomcat.getConnector().setProperty("minSpareThreads", "10");
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "shop", new Shop());
        context.addServletMappingDecoded("/*", "shop");
        tomcat.start();
        System.out.println("ready");
        tomcat.getServer().await();
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String text;
        try {
            text = answer(request.getPathInfo());
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        response.setContentType("text/plain");
        response.getWriter().println(text);
    }

    String answer(String path) throws IOException, InterruptedException {
        switch (path == null ? "" : path) {
            case "/shop":
            case "/upstream":
                return upstream();
            case "/lock":
                return reserve();
            case "/busy":
                return sumOrders();
            case "/deadlock-orders":
                return placeOrder(ORDERS, SHELF);
            case "/deadlock-shelf":
                return placeOrder(SHELF, ORDERS);
            case "/fill":
                return remember();
            case "/churn":
                return churn();
            default:
                return "ok";
        }
    }

    static String upstream() throws IOException {
        try (Socket socket = new Socket("127.0.0.1", 9999)) {
            OutputStream out = socket.getOutputStream();
            out.write("GET /price HTTP/1.1\r\nHost: prices\r\n\r\n".getBytes());
            InputStream in = socket.getInputStream();
            byte[] answer = new byte[1024];
            int length = in.read(answer);
            return new String(answer, 0, Math.max(0, length)).trim().replaceAll("\\s+", " ");
        }
    }

    static String reserve() throws IOException {
        STOCK.lock();
        try {
            return upstream();
        } finally {
            STOCK.unlock();
        }
    }

    static String sumOrders() {
        long sum = 0;
        for (long order = 0; order < 900_000_000_000L; order++) sum += order % 7 * (sum & 3);
        return String.valueOf(sum);
    }

    static String placeOrder(Object first, Object second) throws InterruptedException {
        synchronized (first) {
            BOTH.countDown();
            BOTH.await();
            synchronized (second) {
                return "placed";
            }
        }
    }

    /** Keeps small objects until little of the heap is left. */
    static synchronized String remember() {
        Runtime runtime = Runtime.getRuntime();
        long keep = (long) (runtime.maxMemory() * 0.94);
        while (runtime.totalMemory() - runtime.freeMemory() < keep || CACHE.size() < 1000) {
            CACHE.add(new byte[2000]);
            if (CACHE.size() % 1000 == 0 && CACHE.size() * 2000L > keep) break;
        }
        return CACHE.size() + " rows";
    }

    static String churn() {
        int total = 0;
        List<byte[]> rows = new ArrayList<>();
        for (int row = 0; row < 200; row++) {
            rows.add(new byte[2000]);
            total += rows.size();
        }
        return String.valueOf(total);
    }
}
