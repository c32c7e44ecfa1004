package io.varve.ycsb;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.VarveOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the property files of the top-level folder {@code workloads} with the bucket-expiry paper's Tables 2 and 3
 * and the penalty paper's Table 1.
 */
class WorkloadFilesTest {

    private static final Path FOLDER = Path.of("..", "workloads");

    @Test
    void thereIsOneFileForEachWorkloadAndSize() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".properties")).toList();
            assertThat(names).containsExactlyInAnyOrder("a-quick.properties", "a-small.properties",
                    "a-medium.properties", "a-large.properties", "f-quick.properties", "f-small.properties",
                    "f-medium.properties", "f-large.properties", "i-quick.properties", "i-small.properties",
                    "i-medium.properties", "i-large.properties", "cache-aside-a.properties", "cache-aside-b.properties",
                    "cache-aside-c.properties", "cache-aside-d.properties", "cache-aside-e.properties",
                    "cache-aside-f.properties", "cache-aside-quick.properties", "cache-aside-small.properties",
                    "cache-aside-large.properties");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "f", "i"})
    void sizesAreThePapersAndDifferInNothingElse(String workload) throws IOException {
        Map<String, String> small = load(workload + "-small");
        assertThat(small).containsEntry("operationcount", "3000000").containsEntry("varve.ttls", "15,30,45,60")
                .containsEntry("varve.key", "binary8").containsEntry("fieldcount", "1")
                .containsEntry("fieldlength", "1000");
        Map<String, String> medium = load(workload + "-medium");
        Map<String, String> large = load(workload + "-large");
        assertThat(medium.put("operationcount", "3000000")).isEqualTo("10000000");
        assertThat(large.put("operationcount", "3000000")).isEqualTo("30000000");
        assertThat(medium).isEqualTo(small);
        assertThat(large).isEqualTo(small);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a 0.5 0.5 0 0", "f 0.5 0 0 0.5", "i 0.1 0 0.9 0"})
    void mixesAreThePapers(String row) throws IOException {
        String[] cells = row.split(" ");
        for (String size : List.of("quick", "small", "medium", "large")) {
            assertThat(load(cells[0] + "-" + size)).containsEntry("readproportion", cells[1])
                    .containsEntry("updateproportion", cells[2]).containsEntry("insertproportion", cells[3])
                    .containsEntry("readmodifywriteproportion", cells[4]);
        }
    }

    /** Table 1, and what section 6.3.1 says of keys, fields and databases. */
    @ParameterizedTest
    @ValueSource(strings = {"a 0.5 0.5 0 0 0 zipfian", "b 0.95 0.05 0 0 0 zipfian", "c 1 0 0 0 0 zipfian",
            "d 0.95 0 0.05 0 0 latest", "e 0 0 0.05 0 0.95 zipfian", "f 0.5 0 0 0.5 0 zipfian"})
    void cacheAsideMixesAreThePenaltyPapers(String row) throws IOException {
        String[] cells = row.split(" ");
        Properties properties = read("cache-aside-" + cells[0]);
        assertThat(properties).containsEntry("readproportion", cells[1]).containsEntry("updateproportion", cells[2])
                .containsEntry("insertproportion", cells[3]).containsEntry("readmodifywriteproportion", cells[4])
                .containsEntry("scanproportion", cells[5]).containsEntry("requestdistribution", cells[6])
                .containsEntry("fieldlengthdistribution", "zipfian")
                .containsEntry("db", CacheAsideClient.class.getName());
        CacheAsideOptions options = CacheAsideOptions.parse(properties);
        assertThat(options.local().delayNanos()).isEqualTo(120_000);
        assertThat(options.remote().delayNanos()).isEqualTo(1_000_000);
        assertThat(options.scan() == CacheAsideOptions.Scan.READS).isEqualTo(cells[0].equals("e"));
        assertThat(options.stress().never()).isTrue();
        assertThat(options.hint()).isFalse();
    }

    @Test
    void cacheAsideSizesAreSizesOnly() throws IOException {
        for (String size : List.of("quick", "small", "large")) {
            assertThat(read("cache-aside-" + size)).containsOnlyKeys("recordcount", "operationcount", "threadcount");
        }
        assertThat(read("cache-aside-small")).containsEntry("recordcount", "1000000").containsEntry("operationcount",
                "5000000");
        assertThat(read("cache-aside-large")).containsEntry("recordcount", "1000000").containsEntry("operationcount",
                "500000000");
    }

    private static Properties read(String name) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(FOLDER.resolve(name + ".properties"), StandardCharsets.UTF_8)) {
            properties.load(reader);
        }
        return properties;
    }

    /** A file's properties, which the binding has to accept. */
    private static Map<String, String> load(String name) throws IOException {
        Properties properties = read(name);
        assertThat(VarveOptions.parse(properties).ttlsMillis()).hasSize(4);
        Map<String, String> sorted = new TreeMap<>();
        properties.stringPropertyNames().forEach(key -> sorted.put(key, properties.getProperty(key)));
        return sorted;
    }
}
