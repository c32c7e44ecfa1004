package io.varve.server.rdb;

import java.nio.charset.StandardCharsets;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;

/**
 * Reads an RDB file, entry by entry: its keys, their times and the places of their values, which
 * {@link PayloadReader#readValue} decodes. Confined to one thread. It never reads beyond the given bytes.
 */
public final class RdbReader {
    private static final long MILLIS_PER_SECOND = 1000;
    /** Letters of the name in a module's number: six bits each, before ten bits of a version. */
    private static final String MODULE_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    private static final int MODULE_NAME_CHARS = 9;
    private static final int MAX_AUXILIARY_BYTES = 4096;

    /** Receives the fields of a file that are no entries. */
    public interface Sink {
        void auxiliary(String name, String value);

        /** The announced numbers of keys, and of keys with an expiry time, of the current database. */
        void sizes(int database, long keys, long expiring);

        /**
         * A library of functions.
         *
         * @param offset position of the library in the file, bytes
         * @param source its source
         * @throws RdbException if it cannot be used
         */
        void library(long offset, byte[] source) throws RdbException;
    }

    /** The checksum of a file. */
    public enum Checksum {
        /** The end of the file was not reached. */
        NOT_REACHED,
        /** Files of versions before 5 have none. */
        NONE, SWITCHED_OFF, RIGHT, WRONG
    }

    private final long start;
    private final PayloadInput input;
    private final Sink sink;
    private final long end;
    private final boolean isValkey;
    private final int version;
    private long summedTo;
    private boolean verifies = true;
    private long covered;
    private long expectedSum;
    private long sum;
    private Checksum checksum = Checksum.NOT_REACHED;
    private int database;
    private int type;
    private long key;
    private long value;
    private long expireAtMillis;
    private long idleSeconds;
    private int frequency;
    private boolean isPinned;

    /**
     * Reads the head of a file.
     *
     * @param memory holds auxiliary texts that are compressed or numbers
     * @throws RdbException if this is no RDB file, or one of a version that is not known
     */
    public RdbReader(long address, long length, PayloadMemory memory, Sink sink) throws RdbException {
        start = address;
        end = address + length;
        this.sink = sink;
        input = new PayloadInput(memory);
        input.begin(address, length);
        summedTo = address;
        if (length < RdbFileLayout.HEAD_BYTES) {
            throw new RdbException(0, "the file has " + length + " bytes: expected an RDB file");
        }
        String head = ascii(address, RdbFileLayout.HEAD_BYTES);
        isValkey = head.startsWith(RdbFileLayout.VALKEY_MAGIC);
        String magic = isValkey ? RdbFileLayout.VALKEY_MAGIC : RdbFileLayout.MAGIC;
        String digits = head.substring(magic.length());
        if (!head.startsWith(magic) || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw new RdbException(0, "expected an RDB file, which begins with REDIS or VALKEY and a version");
        }
        version = Integer.parseInt(digits);
        boolean isKnown = isValkey
                ? version >= RdbFileLayout.FIRST_VALKEY_VERSION && version <= RdbFileLayout.LAST_VALKEY_VERSION
                : version >= 1 && version <= PayloadLayout.LATEST_VERSION;
        if (!isKnown) {
            throw RdbException.unsupported(magic.length(), "version " + head + ": expected REDIS0001 to REDIS00"
                    + PayloadLayout.LATEST_VERSION + ", or VALKEY0" + RdbFileLayout.LAST_VALKEY_VERSION);
        }
        input.skip(RdbFileLayout.HEAD_BYTES);
    }

    /** Whether the bytes begin as an RDB file does. */
    public static boolean isRdb(long address, long length) {
        return begins(address, length, RdbFileLayout.MAGIC) || begins(address, length, RdbFileLayout.VALKEY_MAGIC);
    }

    private static boolean begins(long address, long length, String magic) {
        return length >= magic.length() && ascii(address, magic.length()).equals(magic);
    }

    private static String ascii(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copy(address, bytes, 0, length);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /**
     * Moves to the next entry.
     *
     * @return false at the end of the file, whose checksum was then correct, unless the caller has to check it
     * @throws RdbException if the file is damaged, or holds what cannot be read
     */
    public boolean next() throws RdbException {
        expireAtMillis = Item.NEVER;
        idleSeconds = -1;
        frequency = -1;
        isPinned = false;
        while (true) {
            long at = input.at();
            try {
                int code = input.readByte();
                if (code == RdbFileLayout.END) {
                    checkEnd();
                    return false;
                }
                if (!isOpcode(code)) {
                    readEntry(code);
                    return true;
                }
                readOpcode(code);
            } catch (CorruptPayloadException corrupt) {
                throw new RdbException(at - start, input.left() == 0
                        ? "the file ends within this entry"
                        : "the entry that begins here is damaged, or the file ends within it");
            }
        }
    }

    private static boolean isOpcode(int code) {
        return code >= RdbFileLayout.SLOT_IMPORT;
    }

    private void readOpcode(int code) throws RdbException {
        switch (code) {
            case RdbFileLayout.SELECT_DATABASE -> {
                long selected = input.readLength();
                PayloadInput.require(selected <= Integer.MAX_VALUE);
                database = (int) selected;
            }
            case RdbFileLayout.EXPIRE_SECONDS -> expireAtMillis = expiry(input.readInt() * MILLIS_PER_SECOND);
            case RdbFileLayout.EXPIRE_MILLIS -> expireAtMillis = expiry(input.readLong());
            case RdbFileLayout.RESIZE_DATABASE -> sink.sizes(database, input.readLength(), input.readLength());
            case RdbFileLayout.AUXILIARY -> {
                readAuxiliary();
            }
            case RdbFileLayout.FREQUENCY -> frequency = input.readByte();
            case RdbFileLayout.IDLE -> idleSeconds = input.readLength();
            case RdbFileLayout.SLOT_INFO -> {
                input.readLength();
                input.readLength();
                input.readLength();
            }
            case RdbFileLayout.MODULE_AUXILIARY -> throw RdbException.unsupported(input.at() - 1 - start,
                    "data of the module " + moduleName(input.readUnsigned())
                            + ": Varve has no modules; save without it, or delete its keys first");
            case RdbFileLayout.SLOT_IMPORT -> throw RdbException.unsupported(input.at() - 1 - start,
                    "an import of slots of a Valkey cluster: save when it is complete");
            default -> {
                long at = input.at() - 1 - start;
                sink.library(at, LibraryPayload.readSource(input, code));
            }
        }
    }

    /** A field of a size that no server writes is skipped. */
    private void readAuxiliary() {
        long at = input.at();
        input.skipText();
        input.skipText();
        long length = input.at() - at;
        if (length <= MAX_AUXILIARY_BYTES) {
            input.begin(at, end - at);
            String name = readAscii();
            String text = readAscii();
            if (name.equals(RdbFileLayout.PINNED)) {
                isPinned = text.equals(RdbFileLayout.YES);
            } else {
                sink.auxiliary(name, text);
            }
        }
    }

    /** A time before 1970 is in the past; the file's one for never does not exist. */
    private static long expiry(long millis) {
        return Math.max(0, millis);
    }

    private String readAscii() {
        input.readText();
        return ascii(input.text(), input.textLength());
    }

    private static String moduleName(long id) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < MODULE_NAME_CHARS; i++) {
            name.append(MODULE_LETTERS.charAt((int) (id >>> Long.SIZE - 6 * (i + 1)) & 0x3F));
        }
        return name.toString();
    }

    private void readEntry(int code) throws RdbException {
        type = code;
        key = input.at();
        input.skipText();
        value = input.at();
        if (code == RdbFileLayout.MODULE || code == RdbFileLayout.MODULE_2) {
            throw RdbException.unsupported(value - start, "a value of the module " + moduleName(input.readUnsigned())
                    + ": Varve has no modules; delete its keys before the save");
        }
        if (isValkey && code == RdbFileLayout.VALKEY_HASH_TIMED) {
            type = PayloadLayout.HASH_TIMED_VALKEY;
        }
        input.skipValue(type);
    }

    /** The checksum covers everything before it. */
    private void checkEnd() throws RdbException {
        if (version < RdbFileLayout.FIRST_CHECKSUM_VERSION) {
            checksum = Checksum.NONE;
            return;
        }
        covered = input.at() - start;
        expectedSum = input.readLong();
        if (verifies) {
            sumTo(start + covered);
            verify(sum);
        }
    }

    /** The caller computes the checksum, and calls {@link #verify} at the end. */
    public void leaveChecksumToCaller() {
        verifies = false;
    }

    /** How many bytes from the start of the file the checksum covers: 0 before the end, or if there is none. */
    public long covered() {
        return covered;
    }

    /**
     * Compares the checksum at the end of the file, which has been reached.
     *
     * @param computed {@link Crc64} of the bytes that are {@link #covered}
     * @throws RdbException if they differ
     */
    public void verify(long computed) throws RdbException {
        checksum = expectedSum == 0 ? Checksum.SWITCHED_OFF : expectedSum == computed ? Checksum.RIGHT : Checksum.WRONG;
        if (checksum == Checksum.WRONG) {
            throw new RdbException(covered, "the checksum of the file is wrong: its bytes were changed");
        }
    }

    private void sumTo(long address) {
        sum = Crc64.update(sum, summedTo, address - summedTo);
        summedTo = address;
    }

    /** The first word of the file, such as REDIS0011. */
    public String version() {
        return ascii(start, RdbFileLayout.HEAD_BYTES);
    }

    /** The state of the checksum. */
    public Checksum checksum() {
        return checksum;
    }

    /** Position in the file, bytes. */
    public long offset() {
        return input.at() - start;
    }

    /** Length of the file, bytes. */
    public long length() {
        return end - start;
    }

    public int database() {
        return database;
    }

    /** The type of the value, for {@link PayloadReader#readValue}. */
    public int type() {
        return type;
    }

    /** The address of the key, a text for {@link PayloadReader#readText}. */
    public long key() {
        return key;
    }

    /** The address of the value. */
    public long value() {
        return value;
    }

    /** The length of the value in the file, bytes. */
    public long valueLength() {
        return input.at() - value;
    }

    /** The expiry time of the key, ms since the epoch, or {@link Item#NEVER}. */
    public long expireAtMillis() {
        return expireAtMillis;
    }

    /** Seconds since the last access at the time of the save; -1 if unknown. */
    public long idleSeconds() {
        return idleSeconds;
    }

    /** Whether the key is never evicted. */
    public boolean isPinned() {
        return isPinned;
    }

    /** The logarithmic access count, 0 to 255; -1 if unknown. */
    public int frequency() {
        return frequency;
    }
}
