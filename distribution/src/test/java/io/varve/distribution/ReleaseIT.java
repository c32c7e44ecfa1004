package io.varve.distribution;

import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.varve.experiments.wire.RespConnection;
import io.varve.experiments.wire.RespErrorException;
import io.varve.testing.Polling;
import io.varve.testing.ProcessOutput;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the release archive: unpacks it, and runs its programs with a PATH that has no java. Confined to the test's
 * thread.
 */
@Timeout(300)
final class ReleaseIT {
    private static final Path ARCHIVE = Path.of(System.getProperty("varve.release.file"));
    /** The only programs on the PATH. */
    private static final List<String> TOOLS = List.of("sh", "cat", "dirname", "mkfifo", "readlink", "rm", "sed");
    private static final Pattern LISTENS = Pattern.compile("listens .* port (\\d+)");
    private static final Pattern PACKAGE_URL = Pattern.compile("\"purl\" : \"pkg:maven/[^/]+/([^@]+)@([^?\"]+)");
    private static final Pattern TEST_LIBRARY = Pattern
            .compile("junit|assertj|awaitility|archunit|lincheck|jazzer|opentest4j|apiguardian");
    private static final String READY = "Ready to accept connections";
    private static final int END_SECONDS = 30;
    private static final int LEASE_SECONDS = 30;
    private static final int BUFFER_BYTES = 1 << 16;

    @TempDir
    @SuppressWarnings("NullAway.Init") // before all tests
    private static Path folder;
    @SuppressWarnings("NullAway.Init") // before all tests
    private static Path release;
    @SuppressWarnings("NullAway.Init") // before all tests
    private static Path tools;

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        Path parent = Files.createDirectories(folder.resolve("with a blank"));
        Process tar = new ProcessBuilder("tar", "-xzf", ARCHIVE.toString(), "-C", parent.toString()).inheritIO()
                .start();
        assertThat(tar.waitFor()).isZero();
        release = parent.resolve(ARCHIVE.getFileName().toString().replace(".tar.gz", ""));
        tools = Files.createDirectories(folder.resolve("tools"));
        for (String tool : TOOLS) {
            Path found = Arrays.stream(System.getenv("PATH").split(":", -1)).map(entry -> Path.of(entry, tool))
                    .filter(Files::isExecutable).findFirst().orElseThrow();
            Files.createSymbolicLink(tools.resolve(tool), found.toRealPath());
        }
    }

    private static Process start(Path program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().put("PATH", tools.toString());
        return builder.start();
    }

    private static String printed(String... arguments) throws IOException, InterruptedException {
        Process process = start(release.resolve("bin/varve"), arguments);
        try {
            ProcessOutput out = ProcessOutput.of(process);
            out.awaitEnd();
            assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as(out.text()).isTrue();
            assertThat(process.exitValue()).as(out.text()).isZero();
            return out.text();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Ends a server by SIGTERM. @return all that it printed */
    private static String ended(Process server, ProcessOutput out) throws InterruptedException {
        // Unlike the process's own method, this one leaves the output open.
        assertThat(server.toHandle().destroy()).isTrue();
        out.awaitEnd();
        assertThat(server.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).as(out.text()).isZero();
        return out.text();
    }

    /** Waits until a server listens, asks it something and ends it. @return all that it printed */
    private static String served(Process server, boolean cached) throws IOException, InterruptedException {
        try {
            ProcessOutput out = ProcessOutput.of(server);
            out.awaitLine(READY);
            Matcher listens = LISTENS.matcher(out.text());
            assertThat(listens.find()).as(out.text()).isTrue();
            int port = Integer.parseInt(listens.group(1));
            try (RespConnection client = new RespConnection("127.0.0.1", port)) {
                assertThat(client.call("PING")).isEqualTo("PONG");
                assertThat(client.call("SET", "greeting", "hello")).isEqualTo("OK");
                assertThat(client.call("GET", "greeting")).isEqualTo("hello");
            }
            Path maps = Path.of("/proc", Long.toString(server.pid()), "maps");
            if (Files.isReadable(maps)) {
                assertThat(Files.readString(maps).contains("server.aot")).as("start cache in use").isEqualTo(cached);
            }
            return ended(server, out);
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void theServerStartsWithoutJavaOnThePath() throws IOException, InterruptedException {
        Process server = start(release.resolve("bin/varve-server"), "--port", "0", "--maxmemory", "64mb");
        assertThat(served(server, true)).doesNotContain("WARN");
    }

    @Test
    void theServerAcceptsItsConfigurationFile_alsoThroughALink() throws IOException, InterruptedException {
        Path link = Files.createSymbolicLink(folder.resolve("a link"), release.resolve("bin/varve-server"));
        Process server = start(link, release.resolve("conf/varve.conf").toString(), "--port", "0", "--maxmemory",
                "64mb");
        assertThat(served(server, true)).doesNotContain("WARN");
    }

    @Test
    void aReleaseWhoseStartCacheDoesNotFit_startsWithoutIt() throws IOException, InterruptedException {
        Path copy = Files.createDirectories(folder.resolve("copy/lib"));
        try (Stream<Path> files = Files.list(release.resolve("lib"))) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        Files.writeString(copy.resolve("server.aot"), "this is no cache");
        Files.createDirectories(folder.resolve("copy/bin"));
        Path program = Files.copy(release.resolve("bin/varve-server"), folder.resolve("copy/bin/varve-server"));
        Files.createSymbolicLink(folder.resolve("copy/runtime"), release.resolve("runtime"));
        assertThat(served(start(program, "--port", "0", "--maxmemory", "64mb"), false)).doesNotContain("WARN", "AOT");
    }

    @Test
    void theTrainingRunLeavesNothingButTheStartCache() throws IOException {
        try (Stream<Path> files = Files.list(release.resolve("lib"))) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.startsWith("server.aot")))
                    .containsExactly("server.aot");
        }
    }

    @Test
    void theOtherProgramsRun() throws IOException, InterruptedException {
        assertThat(printed("help")).contains("Usage: varve VERB", "serve", "ycsb");
        assertThat(printed("version").lines().toList().getLast()).matches("varve \\S+ \\(\\S+\\)");
        assertThat(printed("simulate", "--ycsb", "zipfian", "--keys", "1000", "--requests", "10000", "--policy", "lru",
                "--size", "100", "--csv")).contains("\nlru,100,");
        assertThat(printed("jmh", "-l")).contains("IndexBenchmark");
        Path snapshot = Files.writeString(folder.resolve("dump.rdb"), "REDIS0001\0\1k\1v\u00ff",
                StandardCharsets.ISO_8859_1);
        assertThat(printed("check-rdb", snapshot.toString())).contains("RDB is valid: 1 keys");
    }

    /** Only a server with controllers loads their client. */
    @Test
    void aServerJoinsAClusterByItsController() throws IOException, InterruptedException {
        int controllerPort = freePort();
        String controllers = "127.0.0.1:" + controllerPort;
        Process controller = start(release.resolve("bin/varve"), "controller", "--port", "" + controllerPort, "--dir",
                folder.resolve("controller").toString());
        int port = freePort();
        Process server = start(release.resolve("bin/varve-server"), "--port", "" + port, "--maxmemory", "64mb",
                "--save", "", "--dir", Files.createDirectories(folder.resolve("member")).toString(),
                "--cluster-enabled", "yes", "--cluster-controllers", controllers);
        try {
            ProcessOutput out = ProcessOutput.of(server);
            ProcessOutput.of(controller).awaitLine(READY);
            out.awaitLine(READY);
            String member = "127.0.0.1:" + port;
            assertThat(printed("cluster", "create", "--controllers", controllers, member))
                    .contains(member + " has the slots 0-16383");
            try (RespConnection client = new RespConnection("127.0.0.1", port)) {
                awaitLease(client);
            }
            assertThat(printed("cluster", "status", "--controllers", controllers)).contains("slots 16384 of 16384");
            assertThat(ended(server, out)).doesNotContain("NoClassDef", "ClassNotFound");
        } finally {
            server.destroyForcibly();
            controller.destroyForcibly().waitFor();
        }
    }

    /** The first lease comes with the next heartbeat: until then the server refuses commands. */
    private static void awaitLease(RespConnection client) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEASE_SECONDS);
        while (true) {
            try {
                assertThat(client.call("SET", "greeting", "hello")).isEqualTo("OK");
                return;
            } catch (RespErrorException refused) {
                if (System.nanoTime() - end >= 0) {
                    throw refused;
                }
            }
            Polling.pause();
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void classPathsNameTheLibrariesAndNoTestLibrary() throws IOException {
        Set<String> named = new TreeSet<>();
        for (String program : List.of("server", "proxy", "experiments", "ycsb", "jmh")) {
            String classPath = Files.readString(release.resolve("lib/" + program + ".classpath")).strip();
            for (String entry : classPath.split(":", -1)) {
                assertThat(release.resolve(entry)).isRegularFile();
                named.add(entry);
            }
        }
        assertThat(named).noneMatch(entry -> TEST_LIBRARY.matcher(entry).find());
        assertThat(jars()).isEqualTo(named.stream().map(entry -> entry.replaceFirst("lib/", ""))
                .collect(Collectors.toCollection(TreeSet::new)));
    }

    private static Set<String> jars() throws IOException {
        try (Stream<Path> files = Files.list(release.resolve("lib"))) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".jar"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    @Test
    void theBillOfMaterialsHasEachLibraryAndTheRuntime() throws IOException {
        String bill = Files.readString(release.resolve("varve.cdx.json"));
        List<String> listed = PACKAGE_URL.matcher(bill).results().map(match -> match.group(1) + "-" + match.group(2))
                .toList();
        assertThat(jars()).allMatch(jar -> listed.stream().anyMatch(jar::startsWith));
        assertThat(bill).contains("\"CycloneDX\"", "\"OpenJDK runtime\"");
        assertThat(release.resolve("LICENSE")).isRegularFile();
        assertThat(release.resolve("NOTICE")).isRegularFile();
        assertThat(release.resolve("systemd/varve.service")).content().contains("Type=notify");
    }

    @Test
    void theChecksumIsTheArchives() throws IOException, NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] buffer = new byte[BUFFER_BYTES];
        try (InputStream in = new DigestInputStream(Files.newInputStream(ARCHIVE), digest)) {
            while (in.read(buffer) >= 0) {
                // the digest reads along
            }
        }
        assertThat(ARCHIVE.resolveSibling(ARCHIVE.getFileName() + ".sha256")).content()
                .startsWith(HexFormat.of().formatHex(digest.digest())).contains(ARCHIVE.getFileName().toString());
    }
}
