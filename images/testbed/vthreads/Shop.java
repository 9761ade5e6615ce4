import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A small shop with a virtual thread for each request: what it asks, it asks its upstream on port 9999, without a time limit. */
public class Shop {
    static final Object STOCK = new Object();

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(8080), 100);
        // By reflection: it is compiled by a JDK that has none yet.
        server.setExecutor((ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        server.createContext("/", Shop::serve);
        server.start();
        System.out.println("ready");
    }

    static void serve(HttpExchange exchange) throws IOException {
        byte[] text = answer(exchange.getRequestURI().getPath()).getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    static String answer(String path) throws IOException {
        switch (path) {
            case "/shop":
            case "/upstream":
                return upstream();
            case "/lock":
                return reserve();
            case "/busy":
                return sumOrders();
            default:
                return "ok";
        }
    }

    static String upstream() throws IOException {
        try (Socket socket = new Socket("127.0.0.1", 9999)) {
            socket.getOutputStream().write("GET /price HTTP/1.1\r\nHost: prices\r\n\r\n".getBytes());
            InputStream in = socket.getInputStream();
            byte[] answer = new byte[1024];
            int length = in.read(answer);
            return new String(answer, 0, Math.max(0, length));
        }
    }

    static String reserve() throws IOException {
        synchronized (STOCK) {
            return upstream();
        }
    }

    static String sumOrders() {
        long sum = 0;
        for (long order = 0; order < 900_000_000_000L; order++) sum += order % 7 * (sum & 3);
        return String.valueOf(sum);
    }
}
