package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisException;
import io.varve.ycsb.record.RecordCache;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** A cache in this process that refuses on request. Guarded by its parts; one thread sets its refusals. */
public final class MapCache implements RecordCache {

    final Map<String, Map<String, byte[]>> records = new ConcurrentHashMap<>();
    final Map<String, Integer> classes = new ConcurrentHashMap<>();
    boolean refusesReads;
    boolean refusesWrites;
    boolean refusesRemoves;
    boolean refusesHints;
    boolean closed;
    /** Called in the midst of a write, once. */
    private @Nullable Runnable duringWrite;
    /** Writes that were sent and are answered later, if they are. */
    private volatile @Nullable List<Runnable> unanswered;

    /** From now on, writes are applied and answered only when {@link #answer} is called. */
    void answerLater() {
        unanswered = new CopyOnWriteArrayList<>();
    }

    /** Answers what was written, and whatever is from now on at once. */
    void answer() {
        List<Runnable> writes = Objects.requireNonNull(unanswered);
        unanswered = null;
        writes.forEach(Runnable::run);
    }

    void duringWrite(Runnable hook) {
        duringWrite = hook;
    }

    @Override
    public boolean read(byte[] key, Map<String, ByteIterator> result) {
        refuse(refusesReads);
        Map<String, byte[]> record = records.get(text(key));
        if (record == null) {
            return false;
        }
        record.forEach((name, value) -> result.put(name, new ByteArrayByteIterator(value)));
        return true;
    }

    @Override
    public CompletableFuture<Optional<String>> write(byte[] key, Map<String, byte[]> fields, int penaltyClass) {
        Runnable hook = duringWrite;
        duringWrite = null;
        if (hook != null) {
            hook.run();
        }
        CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
        Runnable write = () -> {
            if (refusesWrites) {
                answer.completeExceptionally(new RedisException("OOM it is full"));
                return;
            }
            records.put(text(key), fields);
            classes.put(text(key), penaltyClass);
            answer.complete(refusesHints ? Optional.of("ERR penalties are not tracked") : Optional.empty());
        };
        List<Runnable> later = unanswered;
        if (later == null) {
            write.run();
        } else {
            later.add(write);
        }
        return answer;
    }

    @Override
    public void remove(byte[] key) {
        refuse(refusesRemoves);
        records.remove(text(key));
    }

    @Override
    public void run() {}

    @Override
    public void await(CompletableFuture<?> answer, long millis) {
        try {
            answer.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | CancellationException e) {
            // An answer, too.
            return;
        } catch (TimeoutException e) {
            throw new RedisException("no reply within " + millis + " ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisException(e);
        }
    }

    @Override
    public void close() {
        closed = true;
    }

    private static void refuse(boolean refuses) {
        if (refuses) {
            throw new RedisException("OOM it is full");
        }
    }

    private static String text(byte[] key) {
        return new String(key, StandardCharsets.UTF_8);
    }
}
