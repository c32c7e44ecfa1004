package io.varve.ycsb;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;

import io.varve.flash.FlashCache;
import io.varve.flash.store.StoreException;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.record.PackedRecord;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB binding for the paper's prototype (TBF, section IV): a cache on flash in front of a database on disk, both in
 * this process; {@link FlashTierOptions} has its properties. Confined to one YCSB thread, as YCSB creates one for each.
 * All clients share one cache, and the last one that ends prints its counters.
 *
 * <p>A record is one value with all fields packed. The table is ignored. Scans are not implemented: with write-back,
 * neither database has all records.
 */
public final class FlashTierClient extends DB {
    private static final SharedFlashCache SHARED = new SharedFlashCache();

    private @Nullable FlashCache cache;
    private boolean hasLeft;
    private long failures;

    /** Called by YCSB for all clients before the first is started. */
    public FlashTierClient() {
        SHARED.join();
    }

    /** One of YCSB's operations. */
    @FunctionalInterface
    private interface Operation {
        Status run(FlashCache cache, byte[] key);
    }

    /**
     * Opens the cache, if no other client has.
     *
     * @throws DBException that names the property, its value and the allowed values, or the directory that cannot be
     *                     opened
     */
    @Override
    public void init() throws DBException {
        try {
            cache = SHARED.open(FlashTierOptions.parse(getProperties()));
        } catch (IllegalArgumentException | StoreException | UncheckedIOException refused) {
            // YCSB does not clean up after this, and the other clients' cache must close with the last of them.
            leave();
            throw new RefusedException(String.valueOf(refused.getMessage()), refused);
        }
    }

    @Override
    public void cleanup() throws DBException {
        cache = null;
        if (failures > 1) {
            System.err.println("varve: " + failures + " operations of a thread failed");
        }
        leave();
    }

    private void leave() throws DBException {
        if (hasLeft) {
            return;
        }
        hasLeft = true;
        try {
            SHARED.leave(System.out);
        } catch (StoreException failed) {
            throw new DBException("the cache did not close: " + failed.getMessage(), failed);
        }
    }

    @Override
    public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        return run("read", key, (open, keyBytes) -> {
            byte[] packed = open.read(keyBytes);
            if (packed == null) {
                return Status.NOT_FOUND;
            }
            PackedRecord.unpack(packed).forEach((name, value) -> {
                if (fields == null || fields.contains(name)) {
                    result.put(name, new ByteArrayByteIterator(value));
                }
            });
            return Status.OK;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return run("insert", key, (open, keyBytes) -> {
            open.write(keyBytes, PackedRecord.pack(bytes(values)));
            return Status.OK;
        });
    }

    /** {@inheritDoc} Fields that are not written stay as they are. */
    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return run("update", key, (open, keyBytes) -> {
            Map<String, byte[]> written = bytes(values);
            open.update(keyBytes, before -> {
                Map<String, byte[]> fields = before == null ? new LinkedHashMap<>() : PackedRecord.unpack(before);
                fields.putAll(written);
                return PackedRecord.pack(fields);
            });
            return Status.OK;
        });
    }

    @Override
    public Status delete(String table, String key) {
        return run("delete", key, (open, keyBytes) -> open.delete(keyBytes) ? Status.OK : Status.NOT_FOUND);
    }

    @Override
    @SuppressWarnings("NonApiType") // The types are YCSB's.
    public Status scan(String table, String startKey, int recordCount, @Nullable Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return Status.NOT_IMPLEMENTED;
    }

    /** The only place where an operation fails. */
    private Status run(String name, String key, Operation operation) {
        FlashCache open = cache;
        if (open == null) {
            throw new IllegalStateException(name + " before init or after cleanup");
        }
        try {
            return operation.run(open, key.getBytes(StandardCharsets.UTF_8));
        } catch (StoreException failed) {
            reportFirst(name, failed);
            return Status.ERROR;
        } catch (IllegalArgumentException stranger) {
            // The value is not one of our records.
            reportFirst(name, stranger);
            return Status.UNEXPECTED_STATE;
        }
    }

    private void reportFirst(String name, RuntimeException failed) {
        failures++;
        if (failures == 1) {
            System.err.println("varve: " + name + " failed (further failures of this thread are only counted): "
                    + failed.getMessage());
        }
    }

    private static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        values.forEach((name, value) -> fields.put(name, value.toArray()));
        return fields;
    }
}
