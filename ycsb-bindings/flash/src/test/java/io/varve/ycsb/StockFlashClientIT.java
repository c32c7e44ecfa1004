package io.varve.ycsb;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The stock {@code site.ycsb.Client} in a JVM of its own: the lib folder of YCSB 0.17.0 and the binding's {@code -all}
 * jar, nothing else.
 */
class StockFlashClientIT {
    private static final long TIMEOUT_SECONDS = 60;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"je,through", "je,back", "mvstore,through", "mvstore,back"})
    void aLoadAndARun(String store, String write) throws Exception {
        List<String> options = List.of("-threads", "2", "-p", "recordcount=2000", "-p", "operationcount=4000", "-p",
                "fieldcount=1", "-p", "readproportion=0.95", "-p", "updateproportion=0", "-p",
                "readmodifywriteproportion=0.05", "-p", "requestdistribution=zipfian", "-p", "varve.flash.items=200",
                "-p", "varve.flash.store=" + store, "-p", "varve.flash.write=" + write);
        String load = ycsb(options, "-load");
        assertThat(number(load, "[INSERT], Return=OK, ")).as(load).isEqualTo(2000);
        assertThat(number(load, "[FLASH], Items, ")).isBetween(1L, 200L);
        String run = ycsb(options, "-t");
        assertThat(number(run, "[READ], Return=OK, ")).as(run).isEqualTo(4000);
        assertThat(run).doesNotContain("Return=ERROR").doesNotContain("NOT_FOUND").doesNotContain("Exception")
                .doesNotContain("WARNING");
        long hits = number(run, "[FLASH], Hits, ");
        long misses = number(run, "[FLASH], Misses, ");
        assertThat((double) hits / (hits + misses)).as("of zipfian reads, with a tenth cached").isBetween(0.15, 0.6);
        assertThat(number(run, "[FLASH], WrittenBack, ")).matches(count -> count > 0 == write.equals("back"));
        assertThat(number(run, "[FLASH], Failures, ")).isZero();
    }

    @Test
    void allJarHasItsDependenciesAndNoNetworkClient() throws IOException {
        try (JarFile jar = new JarFile(property("all-jar"))) {
            assertThat(jar.getEntry("io/varve/ycsb/FlashTierClient.class")).isNotNull();
            assertThat(jar.stream().map(entry -> entry.getName())
                    .filter(name -> name.startsWith("io/netty/") || name.startsWith("site/") || name.contains("lettuce")
                            || name.endsWith("VarveClient.class")))
                    .isEmpty();
        }
    }

    private static long number(String output, String start) {
        return output.lines().filter(line -> line.startsWith(start))
                .mapToLong(line -> Long.parseLong(line.substring(start.length()).trim())).sum();
    }

    private String ycsb(List<String> options, String phase) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
                        "--enable-native-access=ALL-UNNAMED", "-cp",
                        property("stock-lib") + "/*" + File.pathSeparator + property("all-jar"), "site.ycsb.Client",
                        phase, "-db", "io.varve.ycsb.FlashTierClient", "-p",
                        "workload=site.ycsb.workloads.CoreWorkload",
                        "-p", "varve.flash.dir=" + directory.resolve("flash"), "-p",
                        "varve.disk.dir=" + directory.resolve("disk"), "-p", "varve.flash.cache-mb=8", "-p",
                        "varve.disk.cache-mb=8"));
        command.addAll(options);
        Path output = Files.createTempFile(directory, "ycsb", ".txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("the client ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(output);
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    private static String property(String name) {
        String value = System.getProperty("varve.test." + name);
        assertThat(value).as("the build sets varve.test." + name).isNotNull();
        return value;
    }
}
