package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** A cache in this process that can be told to refuse. Guarded by its parts; what it refuses is set by one thread. */
final class MapCache implements RecordCache {

    final Map<String, Map<String, byte[]>> records = new ConcurrentHashMap<>();
    final Map<String, Integer> classes = new ConcurrentHashMap<>();
    boolean refusesReads;
    boolean refusesWrites;
    boolean refusesRemoves;
    boolean refusesHints;
    boolean closed;
    /** Called in the midst of a write, once. */
    private @Nullable Runnable duringWrite;

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
    public Optional<String> write(byte[] key, Map<String, byte[]> fields, int penaltyClass) {
        refuse(refusesWrites);
        Runnable hook = duringWrite;
        duringWrite = null;
        if (hook != null) {
            hook.run();
        }
        records.put(text(key), fields);
        classes.put(text(key), penaltyClass);
        return refusesHints ? Optional.of("ERR penalties are not tracked") : Optional.empty();
    }

    @Override
    public void remove(byte[] key) {
        refuse(refusesRemoves);
        records.remove(text(key));
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
