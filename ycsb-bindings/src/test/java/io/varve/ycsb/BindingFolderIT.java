package io.varve.ycsb;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Unpacks the binding's archive into the layout of YCSB 0.17.0, and runs what its scripts would run: the core's jars,
 * then {@code NAME-binding/conf} and {@code NAME-binding/lib}, with the class that {@code bin/bindings.properties}
 * names. Confined to the test's thread.
 */
class BindingFolderIT {
    private static final String LIST = "basic:site.ycsb.BasicDB";

    @TempDir
    Path folder;
    private Path ycsb = Path.of("");

    @BeforeEach
    void unpack() throws Exception {
        ycsb = Files.createDirectories(folder.resolve("a folder/ycsb-0.17.0"));
        Files.createDirectories(ycsb.resolve("bin"));
        Files.writeString(ycsb.resolve("bin/bindings.properties"), LIST);
        Files.writeString(ycsb.resolve("bin/ycsb"), "DATABASES = {\n    \"basic\": \"site.ycsb.BasicDB\"\n}\n");
        Files.createDirectories(ycsb.resolve("lib"));
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(Path.of(property("stock-lib")))) {
            for (Path jar : jars) {
                Files.copy(jar, ycsb.resolve("lib").resolve(jar.getFileName()));
            }
        }
        assertThat(run(ycsb, List.of("tar", "xzf", property("binding-archive")))).isEmpty();
    }

    private static String property(String name) {
        return Objects.requireNonNull(System.getProperty("varve.test." + name), name);
    }

    /** @return the output of a program that ends with status 0 */
    private static String run(Path in, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).directory(in.toFile()).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    private String install() throws IOException, InterruptedException {
        return run(folder, List.of("sh", ycsb.resolve("varve-binding/install.sh").toString()));
    }

    @Test
    void theBindingIsAddedToBothListsOnce() throws Exception {
        assertThat(install()).contains("knows the bindings varve and varve-aside");
        install();
        assertThat(Files.readAllLines(ycsb.resolve("bin/bindings.properties"))).containsExactly(LIST,
                "varve:io.varve.ycsb.VarveClient", "varve-aside:io.varve.ycsb.CacheAsideClient");
        assertThat(Files.readAllLines(ycsb.resolve("bin/ycsb"))).containsExactly("DATABASES = {",
                "    \"varve-aside\": \"io.varve.ycsb.CacheAsideClient\",",
                "    \"varve\": \"io.varve.ycsb.VarveClient\",", "    \"basic\": \"site.ycsb.BasicDB\"", "}");
    }

    @Test
    void outsideOfAYcsbTheScriptSaysWhereItBelongs() throws Exception {
        Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
        run(elsewhere, List.of("tar", "xzf", property("binding-archive")));
        assertThat(refused(elsewhere)).contains("bin/bindings.properties", "expected this folder inside");
    }

    /** @return the line that the script prints when it refuses */
    private static String refused(Path in) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "varve-binding/install.sh").directory(in.toFile())
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(2);
        assertThat(output).hasLineCount(1);
        return output;
    }

    @Test
    void theFolderMayBeALinkAndCdpathMayBeSet() throws Exception {
        Path elsewhere = folder.resolve("elsewhere/the binding");
        Files.createDirectories(elsewhere.getParent());
        Files.move(ycsb.resolve("varve-binding"), elsewhere);
        Files.createSymbolicLink(ycsb.resolve("varve-binding"), elsewhere);
        ProcessBuilder script = new ProcessBuilder("sh", "varve-binding/install.sh").directory(ycsb.toFile())
                .redirectErrorStream(true);
        script.environment().put("CDPATH", folder.resolve("elsewhere") + ":" + ycsb);
        Process process = script.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).hasLineCount(1).contains(ycsb + " knows the bindings");
        assertThat(Files.readAllLines(ycsb.resolve("bin/bindings.properties"))).hasSize(3);
    }

    @Test
    void twoVersionsOfTheBindingAreRefused() throws Exception {
        Files.writeString(ycsb.resolve("varve-binding/lib/varve-ycsb-0.0.1.jar"), "an older one");
        assertThat(refused(ycsb)).contains("varve-binding/lib: expected exactly one varve-ycsb-VERSION.jar");
        assertThat(Files.readAllLines(ycsb.resolve("bin/bindings.properties"))).containsExactly(LIST);
    }

    @Test
    void aScriptWithoutTheListIsRefusedAndNothingChanges() throws Exception {
        Files.writeString(ycsb.resolve("bin/ycsb"), "DB = dict()\n");
        assertThat(refused(ycsb)).contains("bin/ycsb: expected a list that begins with 'DATABASES = {'");
        assertThat(ycsb.resolve("bin/ycsb")).hasContent("DB = dict()\n");
        assertThat(Files.readAllLines(ycsb.resolve("bin/bindings.properties"))).containsExactly(LIST);
    }

    @Test
    void ycsbLoadsAndRunsWithIt() throws Exception {
        install();
        String line = Files.readAllLines(ycsb.resolve("bin/bindings.properties")).stream()
                .filter(each -> each.startsWith("varve:")).findFirst().orElseThrow();
        try (RedisProcess redis = RedisProcess.start(folder)) {
            for (String phase : List.of("-load", "-t")) {
                List<String> command = new ArrayList<>(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m", "-classpath",
                        ycsb.resolve("lib") + "/*:" + ycsb.resolve("varve-binding/conf") + ":"
                                + ycsb.resolve("varve-binding/lib") + "/*",
                        "site.ycsb.Client", phase, "-db", line.substring(line.indexOf(':') + 1), "-p",
                        "workload=site.ycsb.workloads.CoreWorkload", "-p", "recordcount=200", "-p",
                        "operationcount=500", "-p", "varve.host=127.0.0.1", "-p", "varve.port=" + redis.port()));
                String output = run(ycsb, command);
                assertThat(output).contains("Return=OK").doesNotContain("Return=ERROR", "Exception");
            }
            assertThat(redis.commands().dbsize()).isEqualTo(200);
        }
    }
}
