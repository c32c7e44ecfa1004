package io.varve.server.testing;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.report.CacheStats;
import org.jspecify.annotations.Nullable;

/** A cache that holds nothing and admits everything, for tests of surrounding code. Thread-safe: no state. */
public final class StubCache {
    private StubCache() {}

    public static Cache create(CacheConfig config) {
        return (Cache) Proxy.newProxyInstance(StubCache.class.getClassLoader(), new Class<?>[] {Cache.class},
                (_, method, _) -> switch (method.getName()) {
                    case "newSession" -> session();
                    case "config" -> config;
                    case "shardCount", "databaseCount" -> 16;
                    case "admit" -> true;
                    case "runThresholdBytes" -> 1 << 20;
                    case "stats" ->
                        new CacheStats(1, 0, 0, 0, 0, 0, 4096, 0, 0, 0, 0, false, 0, List.of(), 0, 0, 0, 0, 0, 0,
                                0, 0, 0, 0, 0, 0, 0, 0, 0);
                    case "maintain" -> TimeUnit.SECONDS.toNanos(1);
                    default -> zero(method);
                });
    }

    private static CacheSession session() {
        return (CacheSession) Proxy.newProxyInstance(StubCache.class.getClassLoader(),
                new Class<?>[] {CacheSession.class}, (_, method, _) -> zero(method));
    }

    private static @Nullable Object zero(Method method) {
        Class<?> type = method.getReturnType();
        if (type == boolean.class) {
            return false;
        }
        if (type == long.class) {
            return 0L;
        }
        return type == int.class ? 0 : null;
    }
}
