package io.varve.server;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.Cache;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.StubCache;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that maintenance survives failures. Confined to the test's thread, except the calls that are counted. */
class MaintenanceTest {
    @Test
    void maintenanceContinuesAfterAnError() throws Exception {
        ServerConfig config = ServerConfig.defaults().with("port", "0").with("io-threads", "1");
        Cache stub = StubCache.create(config.cacheConfig());
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(3);
        InvocationHandler failing = (_, method, arguments) -> {
            if (method.getName().equals("maintain")) {
                third.countDown();
                if (calls.incrementAndGet() == 1) {
                    throw new OutOfMemoryError("refused, for the test");
                }
            }
            return method.invoke(stub, arguments);
        };
        Cache cache = (Cache) Proxy.newProxyInstance(MaintenanceTest.class.getClassLoader(),
                new Class<?>[] {Cache.class},
                failing);
        try (VarveServer server = VarveServer.start(config, cache)) {
            assertThat(server.port()).isPositive();
            assertThat(third.await(20, TimeUnit.SECONDS)).as("called again and again").isTrue();
        }
    }
}
