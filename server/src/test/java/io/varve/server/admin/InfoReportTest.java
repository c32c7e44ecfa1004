package io.varve.server.admin;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.command.ServerState;
import io.varve.server.config.ServerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests a report's calls of the cache: the cost of INFO does not depend on the number of keys. Confined to the test's
 * thread.
 */
class InfoReportTest {
    private static final ServerConfig CONFIG = ServerConfig.defaults().with("maxmemory", "64mb").with("shards", "4");

    private final List<String> requested = new ArrayList<>();
    private final Cache cache = Cache.open(CONFIG.cacheConfig());
    private final ServerState server = new ServerState(observed(), CONFIG, Ticker.system(), _ -> {});
    private final InfoReport report = server.telemetry().report();

    @AfterEach
    void close() {
        cache.close();
    }

    private Cache observed() {
        return (Cache) Proxy.newProxyInstance(InfoReportTest.class.getClassLoader(), new Class<?>[] {Cache.class},
                (_, method, arguments) -> {
                    requested.add(method.getName());
                    try {
                        return method.invoke(cache, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"default", "everything", "memory", "keyspace", "stats", "varve"})
    void totalsAreReadOnceAndNothingIsCounted(String section) {
        requested.clear();
        assertThat(report.write(List.of(section))).isNotEmpty();
        assertThat(requested).filteredOn(method -> !method.equals("config") && !method.equals("shardCount"))
                .contains("stats").isSubsetOf("stats", "penalties", "demand").doesNotHaveDuplicates();
    }

    @Test
    void itCountsWhenItIsToBeExact() {
        assertThat(report.write(List.of("varve", "exact"))).contains("\r\nexpired_unreclaimed_items:0\r\n");
        assertThat(requested).contains("countExpiredUnreclaimed");
    }

    /** Clients wait for {@code loading:0}, and read the other fields as long as it is 1. */
    @Test
    void fieldsOfALoad_areThereIfAndOnlyIfOneIsReported() throws InterruptedException {
        AtomicBoolean ended = new AtomicBoolean();
        Thread loads = Thread.ofPlatform().start(() -> {
            while (!ended.get()) {
                server.load().begin();
                server.load().end();
            }
        });
        int loading = 0;
        try {
            for (int i = 0; i < 20_000; i++) {
                String persistence = report.write(List.of("persistence"));
                boolean isLoading = persistence.contains("\r\nloading:1\r\n");
                assertThat(persistence.contains("\r\nloading_loaded_perc:")).isEqualTo(isLoading);
                loading += isLoading ? 1 : 0;
            }
        } finally {
            ended.set(true);
            loads.join();
        }
        assertThat(loading).isPositive();
    }
}
