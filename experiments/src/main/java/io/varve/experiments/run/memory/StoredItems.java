package io.varve.experiments.run.memory;

import java.io.IOException;
import java.util.BitSet;

import io.varve.experiments.wire.RespConnection;

/**
 * The items of a server, collected key by key: each key's number determines the length of its value. Confined to one
 * thread.
 *
 * <p>No server reports the bytes of its keys and values in a way that is comparable with another, and only the server
 * knows which keys it evicted.
 */
final class StoredItems {
    private static final String COUNT = "1000";

    /** Determines the length of a value by its key's number. */
    interface Lengths {
        int of(long key);
    }

    private final String keyPrefix;
    private final Lengths lengths;
    private final BitSet seen = new BitSet();
    private long payloadBytes;
    private long keys;

    StoredItems(String keyPrefix, Lengths lengths) {
        this.keyPrefix = keyPrefix;
        this.lengths = lengths;
    }

    /** Visits all keys once. @throws IOException also if a key is not ours */
    void scan(RespConnection connection) throws IOException {
        String cursor = "0";
        do {
            cursor = add(connection.call("SCAN", cursor, "COUNT", COUNT));
        } while (!cursor.equals("0"));
    }

    /** Counts the keys of one reply, each once: SCAN may return one twice. @return the next cursor */
    String add(String reply) throws IOException {
        String[] lines = reply.split("\n", -1);
        for (int i = 1; i < lines.length; i++) {
            String key = lines[i];
            if (key.isEmpty()) {
                continue; // the end of the list within the list
            }
            if (!key.startsWith(keyPrefix)) {
                throw new IOException("an unexpected key: " + key);
            }
            int number = Integer.parseInt(key, keyPrefix.length(), key.length(), 10);
            if (!seen.get(number)) {
                seen.set(number);
                keys++;
                payloadBytes += key.length() + lengths.of(number);
            }
        }
        return lines[0];
    }

    /** The first existing key at or after a number, or -1. */
    int next(int from) {
        return seen.nextSetBit(from);
    }

    long keys() {
        return keys;
    }

    /** Bytes of keys and values. */
    long payloadBytes() {
        return payloadBytes;
    }
}
