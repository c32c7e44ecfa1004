package io.varve.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.SlotHash;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.VarveOptions;
import io.varve.ycsb.record.RecordCache;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;

/**
 * A cache of several servers, each with the records of a range of Redis's hash slots, as {@code redis-cli --cluster
 * create} divides them. Confined to the YCSB thread that opened it. The servers know nothing of each other: with a
 * cluster, only {@link #of} changes.
 */
final class DividedCache implements RecordCache {
    private final List<RecordCache> members;
    /** Complete when all writes have their replies. */
    private CompletableFuture<Optional<String>> written = CompletableFuture.completedFuture(Optional.empty());

    /** @param members at least one */
    DividedCache(List<RecordCache> members) {
        this.members = List.copyOf(members);
    }

    /**
     * Connects to each server.
     *
     * @throws RefusedException that names a server that does not reply, or the hint that it refuses
     */
    static RecordCache open(CacheAsideOptions options, int threadNumber) throws RefusedException {
        if (options.members().isEmpty()) {
            return WireCache.open(options, threadNumber);
        }
        List<RecordCache> opened = new ArrayList<>();
        try {
            for (VarveOptions member : options.members()) {
                opened.add(WireCache.open(options.of(member), threadNumber));
            }
            return new DividedCache(opened);
        } catch (RefusedException refused) {
            RedisException suppressed = closeAll(opened);
            if (suppressed != null) {
                refused.addSuppressed(suppressed);
            }
            throw refused;
        }
    }

    /** The server of a record. */
    private RecordCache of(byte[] key) {
        return members.get(SlotHash.getSlot(key) * members.size() / SlotHash.SLOT_COUNT);
    }

    @Override
    public boolean read(byte[] key, Map<String, ByteIterator> result) {
        return of(key).read(key, result);
    }

    /** {@inheritDoc} Servers answer in any order: the result also waits for all earlier writes. */
    @Override
    public CompletableFuture<Optional<String>> write(byte[] key, Map<String, byte[]> fields, int penaltyClass) {
        CompletableFuture<Optional<String>> own = of(key).write(key, fields, penaltyClass);
        CompletableFuture<Optional<String>> all = written.exceptionally(failure -> Optional.empty())
                .thenCombine(own, (earlier, reply) -> reply);
        written = all;
        return all;
    }

    @Override
    public void remove(byte[] key) {
        of(key).remove(key);
    }

    @Override
    public void run() {
        members.forEach(RecordCache::run);
    }

    @Override
    public void await(CompletableFuture<?> answer, long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!answer.isDone()) {
            run();
            if (System.nanoTime() - end > 0) {
                throw new RedisCommandTimeoutException("no reply within " + millis + " ms");
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new RedisException("interrupted while waiting for a reply");
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        RedisException failed = closeAll(members);
        if (failed != null) {
            throw failed;
        }
    }

    /** Closes each, even if others fail. @return the first failure */
    private static @Nullable RedisException closeAll(List<RecordCache> opened) {
        RedisException[] first = {null};
        Consumer<RedisException> note = failure -> {
            if (first[0] == null) {
                first[0] = failure;
            } else {
                first[0].addSuppressed(failure);
            }
        };
        for (RecordCache each : opened) {
            try {
                each.close();
            } catch (RedisException failure) {
                note.accept(failure);
            }
        }
        return first[0];
    }
}
