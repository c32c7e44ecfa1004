package io.varve.experiments;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static io.varve.experiments.CommandOutput.run;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the output of {@code mrc}. Confined to the test's thread. */
class MrcCommandTest {
    @TempDir
    Path folder;

    /** Ten keys in turn: LRU hits nothing with less than ten places, and all but the first ten reads with them. */
    @Test
    void aLoopMissesUntilItFits() throws IOException {
        Path trace = Files.writeString(folder.resolve("loop.txt"),
                IntStream.range(0, 10_000).mapToObj(i -> "k" + i % 10).collect(Collectors.joining("\n")));
        CommandOutput answer = run("mrc", trace.toString(), "--points", "10", "--csv", "--exact");
        assertThat(answer.status()).isZero();
        assertThat(answer.err()).isEmpty();
        List<String> lines = answer.out().lines().toList();
        assertThat(lines).hasSize(11);
        assertThat(lines.getFirst()).isEqualTo("size,miss_ratio,exact_miss_ratio");
        assertThat(lines.get(9)).isEqualTo("9,1.000000,1.000000");
        assertThat(lines.get(10)).endsWith(",0.001000").startsWith("10,0.00");
        assertThat(run("mrc", trace.toString(), "--csv", "--points", "1").out()).startsWith("size,miss_ratio\n10,0.0");
        assertThat(run("mrc", trace.toString(), "--csv").out().lines()).as("twice as many sizes as items")
                .doesNotHaveDuplicates().hasSize(1 + 11);
        Path csv = folder.resolve("curve.csv");
        assertThat(run("mrc", trace.toString(), "--csv=" + csv, "--points", "1").out()).contains("loop.txt (keys)");
        assertThat(Files.readString(csv)).startsWith("size,miss_ratio\n10,0.0").hasLineCount(2);
        assertThat(run("mrc", trace.toString()).out()).contains("loop.txt (keys)").contains("10,000 requests")
                .contains("items").doesNotContain("exact");
    }

    @Test
    void sizesAreBytesWhereTheTraceHasSizes() throws IOException {
        Path trace = Files.writeString(folder.resolve("trace.csv"), "id,size,what\n" + IntStream.range(0, 3000)
                .mapToObj(i -> i % 3 == 2 ? "a,0,delete\n" : "a,1000,get\n").collect(Collectors.joining()));
        CommandOutput answer = run("mrc", trace.toString(), "--format", "csv", "--column", "id", "--bytes-column",
                "size",
                "--operation-column", "what", "--exact", "--csv", "--points", "1");
        // Every other read finds the item that the one before brought.
        assertThat(answer.out()).isEqualTo("size,miss_ratio,exact_miss_ratio\n1000,0.500000,0.500000\n");
        assertThat(run("mrc", trace.toString(), "--format", "csv", "--column", "id", "--bytes-column", "size").out())
                .contains("bytes");
    }

    @Test
    void withoutATraceYcsbIsTheSource() {
        CommandOutput answer = run("mrc", "--ycsb", "zipfian", "--keys", "2000", "--requests", "20000", "--exact",
                "--sample",
                "0.5");
        assertThat(answer.status()).isZero();
        assertThat(answer.out()).contains("YCSB zipfian, 2,000 keys").contains("items").contains("exact");
    }

    @Test
    void accuracy_onTrace_printsErrorOfSampledCurve() throws IOException {
        Path trace = Files.writeString(folder.resolve("loop.txt"),
                IntStream.range(0, 10_000).mapToObj(i -> "k" + i * i % 997).collect(Collectors.joining("\n")));
        CommandOutput answer = run("mrc", "--accuracy", trace.toString());
        assertThat(answer.out()).contains("loop.txt").contains("allowed");
        assertThat(answer.err()).isEmpty();
        assertThat(run("mrc", "--accuracy", "--csv", trace.toString()).out()).startsWith("stream,accesses,")
                .hasLineCount(2);
    }

    @Test
    void curvesAreDrawn() throws IOException {
        Path trace = Files.writeString(folder.resolve("loop.txt"),
                IntStream.range(0, 2000).mapToObj(i -> "k" + i * i % 97).collect(Collectors.joining("\n")));
        Path plots = folder.resolve("deep/plots");
        CommandOutput learnt = run("mrc", trace.toString(), "--exact", "--csv", "--plots", plots.toString());
        assertThat(learnt.status()).isZero();
        assertThat(learnt.out()).startsWith("size,");
        assertThat(plots).isDirectoryContaining("glob:**/mrc-*loop-txt-keys.png");
        CommandOutput compared = run("mrc", "--accuracy", trace.toString(), "--plots",
                folder.resolve("more").toString());
        assertThat(compared.err()).isEmpty();
        try (Stream<Path> images = Files.list(folder.resolve("more"))) {
            BufferedImage image = ImageIO.read(
                    images.filter(file -> file.toString().endsWith(".png")).findFirst().orElseThrow().toFile());
            Set<Integer> colors = new HashSet<>();
            for (int x = 0; x < image.getWidth(); x++) {
                for (int y = 0; y < image.getHeight(); y++) {
                    colors.add(image.getRGB(x, y) & 0xff_ff_ff);
                }
            }
            assertThat(colors).as("a line of each").contains(0x12948a, 0xf0c83c, 0x4b1d73);
        }
        try (Stream<Path> images = Files.list(plots)) {
            Path image = images.toList().getFirst();
            Files.delete(image);
            Files.createDirectory(image);
        }
        CommandOutput refused = run("mrc", trace.toString(), "--exact", "--csv", "--plots", plots.toString());
        assertThat(refused.err()).hasLineCount(1).contains("an image cannot be written");
        assertThat(refused.status()).isEqualTo(2);
        assertThat(run("mrc", trace.toString(), "--plots", trace.toString()).err()).hasLineCount(1)
                .contains("loop.txt: the folder cannot be created");
        assertThat(run("mrc", "--accuracy", "--server", "localhost:1", "--plots", folder.toString()).err())
                .hasLineCount(1).contains("with --server");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"''|no requests: expected", "--ycsb hotspot|hotspot",
            "--sample 0 TRACE|--sample 0",
            "--sample 1.5 TRACE|above 0, up to 1", "--points 0 TRACE|--points 0: expected 1",
            "no-such-file|does not exist",
            "--format tar TRACE|tar",
            "--format csv --column nobody TRACE|no column 'nobody'; the columns are key, size",
            "--format csv --bytes-column size TRACE|line 3: 'b' is not a whole number",
            "--format csv --operation-column size TRACE|line 2: unknown operation '7'; expected",
            "--format csv --block 100 TRACE|--block 100", "--ycsb zipfian --keys 0|--keys 0: expected 1 or more",
            "--ycsb zipfian --updates 2|--updates 2.0", "--ycsb zipfian TRACE|expected one of them",
            "--accuracy --keys 0|--keys 0"})
    void badInputIsStatus2AndOneLine(String arguments, String message) throws IOException {
        Path trace = Files.writeString(folder.resolve("trace.csv"), "key,size\na,7\na,b\n");
        CommandOutput answer = run(("mrc " + arguments.replace("TRACE", trace.toString())).strip().split(" "));
        assertThat(answer.err()).startsWith("varve: mrc: ").contains(message).hasLineCount(1);
        assertThat(answer.out()).isEmpty();
        assertThat(answer.status()).isEqualTo(2);
    }

    @Test
    void aServerThatIsNotThereIsNamed() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        CommandOutput answer = run("mrc", "--accuracy", "--server", "127.0.0.1:" + port);
        assertThat(answer.status()).isEqualTo(2);
        assertThat(answer.err()).contains("--server 127.0.0.1:" + port + ": ").doesNotContain("\tat ");
    }

    /** A server without our settings gets no command that changes it. */
    @Test
    void anotherServerIsLeftAsItIs() throws Exception {
        try (ServerSocket another = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<String> requested = CompletableFuture.supplyAsync(() -> {
                try (Socket client = another.accept()) {
                    client.getOutputStream().write("*0\r\n".getBytes(StandardCharsets.US_ASCII));
                    return new String(client.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            CommandOutput answer = run("mrc", "--accuracy", "--ycsb", "uniform", "--keys", "10", "--requests", "100",
                    "--server", "127.0.0.1:" + another.getLocalPort());
            assertThat(answer.status()).isEqualTo(2);
            assertThat(answer.err()).contains("it has no setting 'maxmemory'").doesNotContain("\tat ");
            assertThat(requested.get(30, TimeUnit.SECONDS)).contains("GET").doesNotContain("FLUSHALL")
                    .doesNotContain("SET\r");
        }
    }

    /** One that says no word and closes, as one that speaks another protocol does. */
    @Test
    void aServerThatClosesIsNamed() throws Exception {
        try (ServerSocket another = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> closed = CompletableFuture.runAsync(() -> {
                try {
                    another.accept().close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            String address = "127.0.0.1:" + another.getLocalPort();
            CommandOutput answer = run("mrc", "--accuracy", "--ycsb", "uniform", "--keys", "10", "--requests", "100",
                    "--server", address);
            closed.get(30, TimeUnit.SECONDS);
            assertThat(answer.status()).isEqualTo(2);
            assertThat(answer.err()).contains("--server " + address + ": ").doesNotContain("\tat ");
        }
    }

    @Test
    void refusalOfServerIsReported() throws Exception {
        try (VarveServer server = VarveServer.start(ServerConfig.defaults().with("bind", "127.0.0.1")
                .with("port", "0").with("maxmemory", "64mb").with("requirepass", "secret"))) {
            CommandOutput answer = run("mrc", "--accuracy", "--ycsb", "uniform", "--keys", "10", "--requests", "100",
                    "--server", "127.0.0.1:" + server.port());
            assertThat(answer.status()).isEqualTo(2);
            assertThat(answer.err())
                    .contains("--server 127.0.0.1:" + server.port() + ": NOAUTH Authentication required.")
                    .doesNotContain("\tat ");
        }
    }
}
