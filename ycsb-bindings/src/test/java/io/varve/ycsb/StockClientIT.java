package io.varve.ycsb;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the stock {@code site.ycsb.Client} in its own JVM against a real Redis. The class path is that of a researcher:
 * the lib folder of YCSB 0.17.0 and the binding's {@code -all} jar, nothing else.
 */
class StockClientIT {

    private static final long TIMEOUT_SECONDS = 60;

    @TempDir
    static Path directory;

    private static RedisProcess redis;

    @BeforeAll
    static void startRedis() throws IOException {
        redis = RedisProcess.start(directory);
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @BeforeEach
    void flush() {
        redis.commands().flushall();
    }

    /** The JDK that the tests run on, and Maven's own where it is another. */
    static Set<Path> javaHomes() throws IOException {
        Set<Path> homes = new LinkedHashSet<>();
        homes.add(Path.of(System.getProperty("java.home")).toRealPath());
        homes.add(Path.of(property("maven-java-home")).toRealPath());
        return homes;
    }

    @ParameterizedTest
    @MethodSource("javaHomes")
    void theAllJarInYcsbsLibFolderLoadsAndRuns(Path javaHome) throws Exception {
        List<String> options = List.of("-threads", "2", "-p", "recordcount=300", "-p", "operationcount=2000", "-p",
                "readproportion=0.5", "-p", "updateproportion=0.2", "-p", "readmodifywriteproportion=0.3", "-p",
                "varve.ttls=1000");
        Run load = ycsb(javaHome, options, "-load");
        assertThat(load.count("INSERT", "OK")).as(load.output()).isEqualTo(300);
        assertThat(redis.commands().dbsize()).isEqualTo(300);
        for (byte[] key : redis.commands().keys("*")) {
            assertThat(redis.commands().ttl(key)).isBetween(900L, 1000L);
        }
        redis.commands().configResetstat();
        Run run = ycsb(javaHome, options, "-t");
        long updates = run.count("UPDATE", "OK");
        assertThat(run.count("READ", "OK")).as(run.output())
                .isEqualTo(2000 - updates + run.operations("READ-MODIFY-WRITE"));
        assertThat(run.output()).doesNotContain("Return=ERROR").doesNotContain("Return=NOT_FOUND")
                .doesNotContain("Exception").doesNotContain("WARNING");
        // Each update, and the second half of each read-modify-write, is an HSET and an EXPIRE.
        assertThat(redis.commands().info("commandstats")).contains("cmdstat_hset:calls=" + updates + ",",
                "cmdstat_expire:calls=" + updates + ",");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "f", "i"})
    void theWorkloadsRun(String name) throws Exception {
        Path workload = Path.of(property("workloads"), name + "-quick.properties");
        List<String> options = List.of("-P", workload.toString(), "-threads", "2", "-p", "recordcount=200", "-p",
                "operationcount=1000", "-p", "varve.ttls=1000");
        assertThat(ycsb(javaHome(), options, "-load").count("INSERT", "OK")).isEqualTo(200);
        for (byte[] key : redis.commands().keys("*")) {
            assertThat(key).hasSize(8);
            assertThat(redis.commands().hgetall(key).values()).singleElement()
                    .satisfies(value -> assertThat(value).hasSize(1000));
        }
        Run run = ycsb(javaHome(), options, "-t");
        long written = run.count("UPDATE", "OK") + run.count("INSERT", "OK");
        double share = name.equals("i") ? 900 : 500;
        assertThat((double) written).as(run.output()).isBetween(share - 90, share + 90);
        assertThat(run.output()).doesNotContain("Return=ERROR");
    }

    /** Its file names the binding; the database's driver is the user's. */
    @Test
    void theCacheAsideWorkloadsLoadAndRun() throws Exception {
        List<String> options = new ArrayList<>();
        for (String file : List.of("cache-aside-f", "cache-aside-quick")) {
            options.addAll(List.of("-P", Path.of(property("workloads"), file + ".properties").toString()));
        }
        options.addAll(List.of("-threads", "2", "-p", "recordcount=200", "-p", "operationcount=600", "-p",
                "varve.db.dir=" + directory.resolve("databases"), "-p", "varve.db.remote.delay-us=200"));
        String driver = property("stock-jdbc") + "/*";
        Run load = ycsb(javaHome(), driver, "", options, "-load");
        assertThat(load.count("INSERT", "OK")).as(load.output()).isEqualTo(200);
        assertThat(load.output()).contains("[DATABASE-REMOTE], SimulatedDelays, 0");
        Run run = ycsb(javaHome(), driver, "", options, "-t");
        assertThat(run.count("READ", "OK")).as(run.output()).isEqualTo(600);
        assertThat(run.output()).doesNotContain("Return=ERROR").doesNotContain("NOT_FOUND").doesNotContain("Exception")
                .doesNotContain("WARNING").contains("[DATABASE-LOCAL], SimulatedDelayAsked(us), 120.0",
                        "[DATABASE-REMOTE], SimulatedDelayAsked(us), 200.0");
        long misses = run.number("[CACHE-ASIDE], Misses, ");
        assertThat(run.number("[CACHE-ASIDE], Hits, ") + misses).isEqualTo(600);
        assertThat(run.number("[DATABASE-LOCAL], Fetches, ") + run.number("[DATABASE-REMOTE], Fetches, "))
                .isEqualTo(misses);
        assertThat(run.operations("MISS-PENALTY")).isEqualTo(run.number("[CACHE-ASIDE], Fills, "));
        assertThat(run.operations("SIMULATED-DELAY-REMOTE"))
                .isEqualTo(run.number("[DATABASE-REMOTE], SimulatedDelays, "));
        Run without = ycsb(javaHome(), "", "", options, "-t");
        assertThat(without.output()).containsOnlyOnce("varve: varve.db.local.url=jdbc:h2:file:")
                .contains("No suitable driver").contains("com.h2database:h2");
    }

    /** Caffeine, which is relocated, loads classes by their names. */
    @Test
    void theNearCacheOfEachThreadAnswersReads() throws Exception {
        List<String> options = List.of("-threads", "2", "-p", "recordcount=50", "-p", "operationcount=2000", "-p",
                "readproportion=0.95", "-p", "updateproportion=0.05", "-p", "varve.near.cache=40");
        assertThat(ycsb(javaHome(), options, "-load").count("INSERT", "OK")).isEqualTo(50);
        Run run = ycsb(javaHome(), options, "-t");
        long reads = run.count("READ", "OK");
        assertThat(reads + run.count("UPDATE", "OK")).as(run.output()).isEqualTo(2000);
        long hits = run.number("[NEAR-CACHE], Hits, ");
        assertThat(hits).as(run.output()).isPositive();
        assertThat(hits + run.number("[NEAR-CACHE], Misses, ")).isEqualTo(reads);
        assertThat(run.number("[NEAR-CACHE], Invalidations, ")).isPositive();
        assertThat(run.output()).doesNotContain("Exception").doesNotContain("WARNING");
    }

    @Test
    void expiredRecordsAreMissesAndNotErrors() throws Exception {
        Run run = ycsb(javaHome(), List.of("-p", "recordcount=100", "-p", "operationcount=50", "-p",
                "readproportion=1", "-p", "updateproportion=0"), "-t");
        assertThat(run.count("READ", "NOT_FOUND")).as(run.output()).isEqualTo(50);
        assertThat(run.count("READ", "OK")).isZero();
    }

    /** This makes {@code Return=OK} counts the only criterion of a run: the client's own exit status is always 0. */
    @Test
    void theClientExitsWithZeroWhenItsThreadsDied() throws Exception {
        Run run = ycsb(javaHome(), List.of("-threads", "3", "-p", "recordcount=100", "-p", "varve.record=tree"),
                "-load");
        assertThat(run.output()).containsOnlyOnce("varve: varve.record=tree: expected hash or string")
                .doesNotContain("Exception").doesNotContain("\tat ");
        assertThat(run.count("INSERT", "OK")).isZero();
    }

    @Test
    void theAllJarHasNeitherYcsbNorAnyoneElsesNames() throws IOException {
        try (JarFile jar = new JarFile(property("all-jar"))) {
            List<String> strangers = jar.stream().map(entry -> entry.getName()).filter(name -> name.endsWith(".class"))
                    .filter(name -> !name.startsWith("io/varve/ycsb/")).toList();
            assertThat(strangers).isEmpty();
            assertThat(jar.getEntry("io/varve/ycsb/VarveClient.class")).isNotNull();
        }
    }

    /** The client's output, both streams. Immutable. */
    private record Run(String output) {

        /** How often an operation returned a status: a line such as {@code [READ], Return=OK, 1000}. */
        long count(String operation, String status) {
            return number("[" + operation + "], Return=" + status + ", ");
        }

        long operations(String operation) {
            return number("[" + operation + "], Operations, ");
        }

        long number(String start) {
            return output.lines().filter(line -> line.startsWith(start))
                    .mapToLong(line -> Long.parseLong(line.substring(start.length()).trim())).sum();
        }
    }

    private static Run ycsb(Path javaHome, List<String> options, String phase) throws Exception {
        return ycsb(javaHome, "", VarveClient.class.getName(), options, phase);
    }

    /**
     * @param driver  for the class path, or nothing
     * @param binding nothing where a file names it
     */
    private static Run ycsb(Path javaHome, String driver, String binding, List<String> options, String phase)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(javaHome.resolve("bin/java").toString(), "-Xmx128m", "-cp",
                property("stock-lib") + "/*" + File.pathSeparator + property("all-jar") + File.pathSeparator + driver,
                "site.ycsb.Client", phase, "-p", "workload=site.ycsb.workloads.CoreWorkload", "-p",
                "varve.host=127.0.0.1", "-p", "varve.port=" + redis.port()));
        if (!binding.isEmpty()) {
            command.addAll(List.of("-db", binding));
        }
        command.addAll(options);
        Path output = Files.createTempFile(directory, "ycsb", ".txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("the client ends").isTrue();
        } finally {
            process.destroyForcibly();
        }
        Run run = new Run(Files.readString(output));
        assertThat(process.exitValue()).as(run.output()).isZero();
        return run;
    }

    private static Path javaHome() {
        return Path.of(System.getProperty("java.home"));
    }

    private static String property(String name) {
        String value = System.getProperty("varve.test." + name);
        assertThat(value).as("the build sets varve.test." + name).isNotNull();
        return value;
    }
}
