package acme;

import static org.junit.Assert.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;

public class FeeTest {
    @Test
    public void fees() throws Exception {
        for (String line : Files.readAllLines(Path.of("src/test/resources/fees.txt"))) {
            String[] parts = line.split(" ");
            assertEquals(Integer.parseInt(parts[1]), Fee.of(Integer.parseInt(parts[0])));
        }
    }
}
