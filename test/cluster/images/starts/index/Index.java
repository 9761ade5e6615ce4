import java.nio.file.Files;
import java.nio.file.Path;

public class Index {
    public static void main(String[] words) throws Exception {
        System.out.println("opening the index");
        Files.createFile(Path.of("/var/lib/shop/index.lock"));
    }
}
