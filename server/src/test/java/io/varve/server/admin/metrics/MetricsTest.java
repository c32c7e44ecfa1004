package io.varve.server.admin.metrics;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.InfoReport;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.PrometheusText;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the metrics for Prometheus: names, values and cost. Confined to the test's thread. */
class MetricsTest {
    private static final ServerConfig CONFIG = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4");
    /** Allowed last words of a name: the base units of Prometheus. */
    private static final Set<String> UNITS = Set.of("bytes", "seconds", "ratio");

    private final Cache cache = Cache.open(CONFIG.cacheConfig());
    private final ServerState server = new ServerState(cache, CONFIG, Ticker.system(), _ -> {});
    private final Health health = new Health();
    private final Metrics metrics = new Metrics(server.telemetry(), health);

    @AfterEach
    void close() {
        metrics.close();
        cache.close();
    }

    private PrometheusText scrape() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        metrics.scrape(out);
        return PrometheusText.parse(out.toString(StandardCharsets.UTF_8));
    }

    @Test
    void namesFollowPrometheusConventions() throws IOException {
        PrometheusText text = scrape();
        assertThat(text.types().keySet()).filteredOn(name -> name.startsWith("varve_")).hasSizeGreaterThan(80)
                .allSatisfy(name -> {
                    assertThat(name).matches("varve(_[a-z0-9]+)+");
                    assertThat(text.help().get(name)).matches("[A-Z0-9].{3,}");
                    boolean counter = "counter".equals(text.types().get(name));
                    assertThat(name.endsWith("_total")).as(name).isEqualTo(counter);
                    List<String> words = List.of(name.replaceFirst("_total$", "").split("_"));
                    assertThat(words.subList(0, words.size() - 1)).as("units stand last").doesNotContain("bytes",
                            "seconds", "ratio", "millis", "micros");
                });
        assertThat(UNITS).allSatisfy(unit -> assertThat(text.types().keySet()).anyMatch(name -> name.endsWith("_"
                + unit)));
    }

    @Test
    void everyFigureOfInfoAboutMemoryIsAMetricOfTheSameValue() throws IOException {
        PrometheusText text = scrape();
        Map<String, String> info = new TreeMap<>();
        for (String line : server.telemetry().report().write(List.of("memory")).split("\r\n")) {
            int colon = line.indexOf(':');
            if (colon > 0 && !line.substring(0, colon).endsWith("_human")) {
                info.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        assertThat(info.remove("mem_allocator")).isEqualTo(InfoReport.ALLOCATOR);
        assertThat(info.remove("maxmemory_policy")).isEqualTo("noeviction");
        assertThat(info).hasSizeGreaterThan(35).allSatisfy((field, shown) -> {
            List<String> metrics = text.help().entrySet().stream()
                    .filter(entry -> entry.getValue().endsWith("(INFO: " + field + ")")).map(Map.Entry::getKey)
                    .toList();
            assertThat(metrics).as(field).hasSize(1);
            String metric = metrics.getFirst();
            assertThat(text.types().get(metric)).isEqualTo("gauge");
            // The process continues between the two.
            if (!field.contains("rss") && !field.contains("fragmentation")) {
                double value = text.value(metric);
                assertThat(shown).as(metric).isIn(Long.toString((long) value),
                        String.format(java.util.Locale.ROOT, "%.2f", value),
                        String.format(java.util.Locale.ROOT, "%.2f%%", 100 * value));
            }
        });
        assertThat(text.value("varve_memory_max_bytes")).isEqualTo(64 << 20);
        assertThat(text.value("varve_memory_rss_bytes")).isPositive();
    }

    @Test
    void theJvmAndTheProcessAreThere() throws IOException {
        PrometheusText text = scrape();
        assertThat(text.of("jvm_memory_used_bytes")).extracting(sample -> sample.labels().get("area")).contains("heap",
                "nonheap");
        assertThat(text.value("jvm_threads_live_threads")).isPositive();
        assertThat(text.of("jvm_buffer_memory_used_bytes")).isNotEmpty();
        assertThat(text.value("process_uptime_seconds")).isPositive();
        assertThat(text.value("process_cpu_time_ns_total")).isPositive();
        assertThat(text.of("varve_gc_pause_seconds_total")).hasSize(1);
    }

    @Test
    void metricsReportCurrentValues() throws IOException {
        assertThat(scrape().value("varve_ready")).isZero();
        health.listening();
        health.loaded();
        LoopCounters loop = new LoopCounters(3);
        server.telemetry().loops().add(loop);
        server.telemetry().errors().add("WRONGTYPE no");
        PrometheusText text = scrape();
        assertThat(text.value("varve_ready")).isEqualTo(1);
        assertThat(text.value("varve_error_replies_total", "error", "WRONGTYPE")).isEqualTo(1);
        assertThat(text.value("varve_network_input_bytes_total")).isZero();
        loop.add(LoopCounters.Total.INPUT_BYTES, 17);
        assertThat(scrape().value("varve_network_input_bytes_total")).isEqualTo(17);
        server.telemetry().slowLog().add(1, 2, List.of(), "", "", 10);
        assertThat(scrape().value("varve_slowlog_entries")).isEqualTo(1);
    }

    @Test
    void aValueIsUnderTheFirstBoundThatIsNotSurelyBelowIt() {
        Histogram histogram = new Histogram(1, 1_000_000_000L, 2);
        for (long nanos : new long[] {1, 999, 1_000, 1_100, 2_500, 2_600, 400_000_000, 600_000_000, 1_000_000_000}) {
            histogram.recordValue(nanos);
        }
        var buckets = LabelledMetrics.buckets(histogram);
        assertThat(buckets.getUpperBound(0)).isEqualTo(1e-6);
        assertThat(buckets.getCount(0)).isEqualTo(3);
        assertThat(buckets.getCount(1)).isEqualTo(2);
        assertThat(buckets.getCount(2)).isEqualTo(1);
        int last = buckets.size() - 1;
        assertThat(buckets.getUpperBound(last - 1)).isEqualTo(0.5);
        assertThat(buckets.getCount(last - 1)).isEqualTo(1);
        assertThat(buckets.getUpperBound(last)).isInfinite();
        assertThat(buckets.getCount(last)).isEqualTo(2);
    }
}
