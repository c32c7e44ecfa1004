package io.varve.server.concurrency;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;

/** A cache whose optimistic reads are counted, and can be interrupted. Thread-safe. */
final class ObservedCache {
    /**
     * Commands that read optimistically, each with its key: {@code s} is a string, {@code l} a list, {@code h} a hash,
     * {@code t} a set of text, {@code i} a set of integers, {@code z} a sorted set.
     */
    static final List<String> READS = List.of("GET s", "STRLEN s", "EXISTS s", "TYPE s", "TTL s", "PTTL s",
            "EXPIRETIME s", "PEXPIRETIME s", "GETBIT s 1", "BITCOUNT s", "BITPOS s 1", "LLEN l", "LRANGE l 0 -1",
            "LINDEX l 0", "HGET h f", "HMGET h f g", "HLEN h", "HEXISTS h f", "HSTRLEN h f", "HGETALL h", "HKEYS h",
            "HVALS h", "SCARD t", "SISMEMBER i 1", "SMISMEMBER t m n", "SMEMBERS t", "ZCARD z", "ZCOUNT z 0 1",
            "ZLEXCOUNT z - +", "ZSCORE z m", "ZMSCORE z m n", "ZRANK z m", "ZREVRANK z m");

    private final Cache cache;
    private final AtomicInteger confirmed = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicReference<Runnable> interruption = new AtomicReference<>(() -> {});

    ObservedCache(Cache observed) {
        cache = (Cache) Proxy.newProxyInstance(Cache.class.getClassLoader(), new Class<?>[] {Cache.class},
                (proxy, method, arguments) -> {
                    Object result = invoke(observed, method, arguments);
                    return method.getName().equals("newSession") ? observed((CacheSession) result) : result;
                });
    }

    private CacheSession observed(CacheSession session) {
        return (CacheSession) Proxy.newProxyInstance(CacheSession.class.getClassLoader(),
                new Class<?>[] {CacheSession.class}, (proxy, method, arguments) -> {
                    Object result = invoke(session, method, arguments);
                    if (method.getName().equals("confirmOptimisticRead")) {
                        (result.equals(true) ? confirmed : refused).incrementAndGet();
                    }
                    if (method.getName().equals("beginOptimisticRead")) {
                        interruption.getAndSet(() -> {}).run();
                    }
                    return result;
                });
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    Cache cache() {
        return cache;
    }

    /** The optimistic reads that were confirmed, of all sessions. */
    int confirmed() {
        return confirmed.get();
    }

    /** The optimistic reads that were begun and then read again under the lock. */
    int refused() {
        return refused.get();
    }

    /** Runs the action once, after the next optimistic read has begun, on the thread that reads. */
    void interruptNextRead(Runnable action) {
        interruption.set(action);
    }
}
