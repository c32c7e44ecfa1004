package io.varve.experiments;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the memory limits that the launcher finds, and the JVM options that it derives from them. Confined to the
 * test's thread. Folders replace /proc and /sys, and a fake JDK prints its arguments.
 */
final class LauncherMemoryIT {
    private static final long MB = 1 << 20;
    private static final String UNLIMITED = "9223372036854771712";

    @TempDir
    Path folder;

    @SuppressWarnings("NullAway.Init") // before each test
    private Path root;

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text + "\n");
    }

    /** A machine of 64 GiB, with other lines around those that matter. */
    private void machine(String cgroups, String... mounts) throws IOException {
        root = Files.createDirectories(folder.resolve("root"));
        file("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:        1 kB");
        file("proc/self/cgroup", cgroups);
        file("proc/self/mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/memory rw\n"
                + "23 22 0:5 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
                + String.join("\n", mounts));
    }

    private static String v2(String mountRoot) {
        return "30 22 0:26 " + mountRoot + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";
    }

    private static String v1(String mountRoot) {
        return "31 22 0:32 " + mountRoot + " /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory";
    }

    /** The options that the server's JVM would be started with. */
    private List<String> options() throws IOException, InterruptedException {
        Path home = Files.createDirectories(folder.resolve("a house"));
        Path launcher = home.resolve("varve");
        if (!Files.exists(launcher)) {
            LauncherCopy.into(home);
            Path state = Files.createDirectories(home.resolve("target/launcher"));
            Files.writeString(state.resolve("server.classpath"), "classes\n");
            Files.writeString(state.resolve("stamp"), home.toRealPath() + "\n");
            Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
            Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
            for (String program : List.of("java", "javac")) {
                Path file = Files.writeString(bin.resolve(program), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
                assertThat(file.toFile().setExecutable(true)).isTrue();
            }
        }
        ProcessBuilder builder = new ProcessBuilder(launcher.toString(), "serve").redirectErrorStream(true);
        builder.environment().putAll(Map.of("VARVE_NO_BUILD", "1", "JAVA_HOME", folder.resolve("jdk").toString(),
                "VARVE_LIMITS_ROOT", root.toString()));
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text.lines().toList();
    }

    private void assertLimit(long bytes) throws IOException, InterruptedException {
        assertThat(options()).filteredOn(option -> option.startsWith("-Dvarve.memory.limit="))
                .containsExactly("-Dvarve.memory.limit=" + bytes);
    }

    @Test
    void withoutLimitsItIsTheMachines() throws IOException, InterruptedException {
        machine("0::/", v2("/"));
        assertLimit(65_536 * MB);
        file("sys/fs/cgroup/memory.max", "max");
        file("sys/fs/cgroup/memory.high", "max");
        assertLimit(65_536 * MB);
    }

    @Test
    void whereTheSystemDoesNotSayTheOptionsAreThoseOfALargeMachine() throws IOException, InterruptedException {
        root = folder.resolve("nothing");
        assertThat(options()).contains("-Xmx96m").noneMatch(option -> option.startsWith("-Dvarve.memory.limit="));
    }

    @Test
    void cgroupVersion2_smallestLimitOfAncestorsCounts() throws IOException, InterruptedException {
        machine("0::/kubepods/pod1/container", v2("/"));
        file("sys/fs/cgroup/kubepods/pod1/container/memory.max", Long.toString(512 * MB));
        file("sys/fs/cgroup/kubepods/pod1/container/memory.high", "max");
        assertLimit(512 * MB);
        file("sys/fs/cgroup/kubepods/pod1/memory.max", Long.toString(256 * MB));
        file("sys/fs/cgroup/kubepods/memory.max", "max");
        assertLimit(256 * MB);
        file("sys/fs/cgroup/kubepods/memory.high", Long.toString(200 * MB));
        assertLimit(200 * MB);
    }

    @Test
    void cgroupVersion2_inContainer_rootOfMountCounts() throws IOException, InterruptedException {
        machine("0::/", v2("/"));
        file("sys/fs/cgroup/memory.max", Long.toString(128 * MB));
        assertLimit(128 * MB);
        machine("0::/docker/abc", v2("/docker/abc"));
        assertLimit(128 * MB);
        machine("0::/docker/abc/inner", v2("/docker/abc"));
        file("sys/fs/cgroup/inner/memory.max", Long.toString(100 * MB));
        assertLimit(100 * MB);
        machine("0::/../other", v2("/"));
        assertLimit(128 * MB);
    }

    @Test
    void cgroupVersion1_smallestLimitOfAncestorsCounts() throws IOException, InterruptedException {
        machine("5:cpuset:/x\n4:memory,hugetlb:/a/b\n1:name=memory:/y\n0::/z", v1("/"),
                "33 22 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
        file("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", UNLIMITED);
        file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", Long.toString(300 * MB));
        file("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED);
        file("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "1");
        assertLimit(300 * MB);
    }

    @Test
    void limitsAboveMountOfVersion1AreInItsStatistics() throws IOException, InterruptedException {
        machine("4:memory:/docker/abc", v1("/docker/abc"));
        file("sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED);
        assertLimit(65_536 * MB);
        file("sys/fs/cgroup/memory/memory.stat", "cache 1\nhierarchical_memory_limit " + 256 * MB
                + "\nhierarchical_memsw_limit 1");
        assertLimit(256 * MB);
    }

    @Test
    void invalidNumberIsNoLimit() throws IOException, InterruptedException {
        machine("0::/", v2("/"));
        for (String text : List.of("", "max", "-1", "12x", "99999999999999999999")) {
            file("sys/fs/cgroup/memory.max", text);
            assertLimit(65_536 * MB);
        }
    }

    @ParameterizedTest
    @CsvSource({"64,32,8,12", "128,32,8,12", "191,32,11,12", "192,32,12,24", "256,32,16,24", "512,64,32,32",
            "768,96,48,48", "1023,96,63,48", "1024,96,64,48", "4096,96,64,48"})
    void thePartsOfTheJvmFollowTheLimit(int limit, int heap, int direct, int code)
            throws IOException, InterruptedException {
        machine("0::/", v2("/"));
        file("sys/fs/cgroup/memory.max", Long.toString(limit * MB));
        List<String> options = options();
        assertThat(options).contains("-Xmx" + heap + "m",
                "-Xms8m",
                "-XX:MaxDirectMemorySize=" + direct + "m", "-XX:ReservedCodeCacheSize=" + code + "m",
                "-XX:MaxMetaspaceSize=96m", "-Dvarve.home=" + folder.resolve("a house").toRealPath());
        assertThat(options).containsSubsequence("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0");
        assertThat(options.contains("-XX:TieredStopAtLevel=1")).isEqualTo(limit < 192);
        assertThat(options.contains("-XX:CompileCommand=MemLimit,*.*,8m~stop"))
                .isEqualTo(limit >= 192 && limit < 1024);
    }
}
