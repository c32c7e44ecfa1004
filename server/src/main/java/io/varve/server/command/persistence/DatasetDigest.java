package io.varve.server.command.persistence;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import io.varve.memory.CacheSession;
import io.varve.memory.PointInTimeScan;
import io.varve.memory.collection.stream.BlockCursor;
import io.varve.memory.collection.stream.Listpack;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Key;
import io.varve.memory.item.StoredItem;
import io.varve.memory.offheap.Memory;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.CommandContext;
import io.varve.server.command.ServerState;
import io.varve.server.command.dump.ValueWriter;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.rdb.PayloadReader;
import io.varve.server.rdb.PayloadWriter;
import io.varve.server.rdb.StreamSink;
import io.varve.server.rdb.ValueSink;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * The digest of all data that DEBUG DIGEST replies, by the same algorithm as Redis's: equal data has equal digests,
 * whatever its encoding and order. Guarded by its own monitor.
 *
 * <p>A value is serialized as DUMP does, and read again.
 */
public final class DatasetDigest implements ItemCapture, ValueSink, AutoCloseable {
    private static final int BYTES = 20;
    /** The type, the version and the checksum of a payload. */
    private static final int PAYLOAD_FRAME_BYTES = 1 + 2 + 8;
    private static final byte[] FIELD_EXPIRES = ascii("!!hexpire!!");
    private static final byte[] EXPIRES = ascii("!!expire!!");
    /** Digits of the text of a score. */
    private static final int SCORE_DIGITS = 17;
    private static final int MIN_EXPONENT = -4;

    private final MessageDigest sha1;
    private final ServerState server;
    private final CommandContext context;
    private final CacheSession session;
    private final List<byte[]> databases = new ArrayList<>();
    private final PayloadWriter writer = new PayloadWriter(this::require);
    private final PayloadReader reader = new PayloadReader(this::take);
    private final List<MemorySegment> texts = new ArrayList<>();
    private final BlockCursor block = new BlockCursor();
    private MemorySegment payload = MemorySegment.NULL;
    private byte[] value = new byte[BYTES];
    private Kind kind = Kind.STRING;
    private @Nullable Throwable failure;
    private @Nullable StoredItemReader storedItems;

    DatasetDigest(ServerState server) {
        this.server = server;
        try {
            sha1 = MessageDigest.getInstance("SHA-1");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
        session = server.cache().newSession();
        session.touching(false);
        session.notifying(false);
        context = new CommandContext(server.cache(), session, server, null, null, new LoopCounters(0),
                new ChangeRecorder(server.changes(), session));
        for (int i = 0; i < server.cache().databaseCount(); i++) {
            databases.add(new byte[BYTES]);
        }
    }

    /**
     * The digest in hexadecimal digits.
     *
     * @throws IllegalStateException if another scan is open
     */
    static String of(ServerState server) {
        try (DatasetDigest digest = new DatasetDigest(server);
                PointInTimeScan scan = server.cache().scanAtOneMoment(digest)) {
            boolean more;
            do {
                more = scan.scan(Long.MAX_VALUE / 2);
            } while (more);
            if (scan.isAborted()) {
                throw new IllegalStateException("a database was flushed meanwhile, or the flash tier failed");
            }
            return digest.total(scan);
        }
    }

    /**
     * The digest of a value alone, in hexadecimal digits (DEBUG DIGEST-VALUE). The caller has locked the key's shard.
     *
     * @param item where the key was found; null: it is missing
     */
    public static String ofValue(CommandContext context, Key key, @Nullable Item item) {
        byte[] digest = new byte[BYTES];
        if (item != null) {
            try (DatasetDigest reader = new DatasetDigest(context.server())) {
                reader.addValue(context, key, item, digest);
            }
        }
        return HexFormat.of().formatHex(digest);
    }

    /** The bytes of a value in the RDB format, without its type. The caller has locked the key's shard. */
    public static int serializedBytes(CommandContext context, Key key, Item item) {
        try (DatasetDigest reader = new DatasetDigest(context.server())) {
            ValueWriter.write(context, key, item, reader.writer);
            return reader.writer.end() - PAYLOAD_FRAME_BYTES;
        }
    }

    @Override
    public synchronized void close() {
        failure = new IllegalStateException("closed");
        if (storedItems != null) {
            storedItems.close();
            storedItems = null;
        }
    }

    @Override
    public synchronized void begins(long startMillis) {
        session.now(startMillis);
    }

    @Override
    public synchronized void failed(Throwable reason) {
        failure = reason;
    }

    /** The digest of what a complete scan has captured. */
    synchronized String total(PointInTimeScan scan) {
        if (failure != null) {
            throw new IllegalStateException("an item could not be read", failure);
        }
        byte[] total = new byte[BYTES];
        for (int i = 0; i < databases.size(); i++) {
            if (scan.size(i) > 0) {
                mix(total, number(i));
                xor(total, databases.get(i));
            }
        }
        return HexFormat.of().formatHex(total);
    }

    @Override
    public synchronized void capture(int database, Key key, Item item) {
        // A replica has what its primary has not removed yet.
        boolean hasExpired = item.expires() && session.now() > item.expireAtMillis();
        if (!hasExpired) {
            add(context, database, key, item);
        }
    }

    @Override
    public synchronized void capture(int database, StoredItem stored) {
        if (failure != null) {
            return;
        }
        try {
            StoredItemReader items = storedItems == null ? new StoredItemReader(server, session.now()) : storedItems;
            storedItems = items;
            items.read(stored, (key, item) -> add(items.context(), database, key, item));
        } catch (RuntimeException | Error failed) {
            failure = failed;
        }
    }

    private void add(CommandContext of, int database, Key key, Item item) {
        byte[] digest = new byte[BYTES];
        mix(digest, Memory.toArray(key.address(), key.length()));
        addValue(of, key, item, digest);
        xor(databases.get(database), hash(digest));
    }

    private void addValue(CommandContext of, Key key, Item item, byte[] digest) {
        value = digest;
        boolean expires = item.expireAtMillis() != Item.NEVER;
        ValueWriter.write(of, key, item, writer);
        int length = writer.end();
        reader.read(payload.address(), length, this);
        texts.clear();
        if (expires) {
            xor(digest, hash(EXPIRES));
        }
    }

    private long require(long bytes) {
        if (bytes > payload.byteSize()) {
            MemorySegment larger = NativeMemory.collected(2 * bytes);
            MemorySegment.copy(payload, 0, larger, 0, payload.byteSize());
            payload = larger;
        }
        return payload.address();
    }

    /** Texts are collected as garbage once the value was read: this is for debugging. */
    private long take(int bytes) {
        MemorySegment text = NativeMemory.collected(Math.max(1, bytes));
        texts.add(text);
        return text.address();
    }

    // --- the value

    @Override
    public void begin(Kind what) {
        kind = what;
        mix(value, number(typeNumber(what)));
    }

    /** The number of a type in Redis. */
    private static int typeNumber(Kind kind) {
        return switch (kind) {
            case STRING -> 0;
            case LIST -> 1;
            case SET -> 2;
            case SORTED_SET -> 3;
            case HASH -> 4;
            case STREAM -> 6;
        };
    }

    @Override
    public void element(long address, int length) {
        byte[] bytes = Memory.toArray(address, length);
        if (kind == Kind.SET) {
            xor(value, hash(bytes));
        } else {
            mix(value, bytes);
        }
    }

    @Override
    public void member(long address, int length, double score) {
        xor(value, hash(pair(Memory.toArray(address, length), ascii(scoreText(score)))));
    }

    @Override
    public void field(long field, int fieldLength, long address, int length, long time) {
        byte[] pair = pair(Memory.toArray(field, fieldLength), Memory.toArray(address, length));
        if (time != Item.NEVER) {
            xor(pair, hash(FIELD_EXPIRES));
        }
        xor(value, hash(pair));
    }

    /** Groups are not part of the digest. */
    @Override
    public StreamSink stream() {
        return (ms, seq, address, length, entries) -> {
            block.open(address, ms, seq);
            for (boolean more = block.first(); more; more = block.next()) {
                if (!block.isDeleted()) {
                    mix(value, ascii(Long.toUnsignedString(block.ms()) + "." + Long.toUnsignedString(block.seq())));
                    mixFields();
                }
            }
        };
    }

    private void mixFields() {
        while (block.nextField()) {
            mix(value, text(block.field()));
            mix(value, text(block.value()));
        }
    }

    /** The bytes of an element of a block. */
    private static byte[] text(long element) {
        return Listpack.isInteger(element)
                ? ascii(Long.toString(Listpack.integer(element)))
                : Memory.toArray(Listpack.textAddress(element), Listpack.textLength(element));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private byte[] pair(byte[] first, byte[] second) {
        byte[] pair = new byte[BYTES];
        mix(pair, first);
        mix(pair, second);
        return pair;
    }

    /** As C's %.17g writes it. */
    static String scoreText(double score) {
        if (Double.isInfinite(score)) {
            return score > 0 ? "inf" : "-inf";
        }
        if (score == 0) {
            return 1 / score < 0 ? "-0" : "0";
        }
        BigDecimal rounded = new BigDecimal(score).round(new MathContext(SCORE_DIGITS, RoundingMode.HALF_EVEN));
        int exponent = rounded.precision() - rounded.scale() - 1;
        BigDecimal plain = rounded.stripTrailingZeros();
        if (exponent >= MIN_EXPONENT && exponent < SCORE_DIGITS) {
            return plain.toPlainString();
        }
        String digits = plain.unscaledValue().abs().toString();
        String fraction = digits.length() == 1 ? "" : "." + digits.substring(1);
        String sign = exponent < 0 ? "-" : "+";
        int power = Math.abs(exponent);
        return (score < 0 ? "-" : "") + digits.charAt(0) + fraction + "e" + sign + (power < 10 ? "0" : "") + power;
    }

    // --- digests

    private static byte[] number(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
    }

    private byte[] hash(byte[] bytes) {
        return sha1.digest(bytes);
    }

    private static void xor(byte[] into, byte[] other) {
        for (int i = 0; i < BYTES; i++) {
            into[i] ^= other[i];
        }
    }

    /** Unlike {@link #xor}, this depends on the order. */
    private void mix(byte[] into, byte[] bytes) {
        xor(into, hash(bytes));
        System.arraycopy(hash(into.clone()), 0, into, 0, BYTES);
    }
}
