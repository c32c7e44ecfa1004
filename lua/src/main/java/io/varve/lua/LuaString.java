package io.varve.lua;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A string of bytes. Immutable, so threads may share it. Two strings with equal bytes are equal; the engine compares
 * identities first, because constants of a program are shared.
 */
public final class LuaString implements Comparable<LuaString> {
    /** The empty string. */
    public static final LuaString EMPTY = new LuaString(new byte[0]);
    private static final LuaString[] SINGLE_BYTES = new LuaString[256];
    private static final Map<LuaString, LuaString> KNOWN = new ConcurrentHashMap<>();

    static {
        for (int i = 0; i < SINGLE_BYTES.length; i++) {
            SINGLE_BYTES[i] = new LuaString(new byte[] {(byte) i});
        }
    }

    private final byte[] bytes;
    /** C Lua's hash, which decides the order of a table's keys. Zero: not computed yet. */
    private int hash;
    /** The last memory measure that counted this string. Threads may race for it: then it is counted twice. */
    int measure;

    private LuaString(byte[] bytes) {
        this.bytes = bytes;
    }

    /** @param owned the caller does not modify it afterwards */
    public static LuaString of(byte[] owned) {
        if (owned.length <= 1) {
            return owned.length == 0 ? EMPTY : SINGLE_BYTES[owned[0] & 0xff];
        }
        return new LuaString(owned);
    }

    /** A copy of some bytes. */
    public static LuaString copyOf(byte[] bytes, int offset, int length) {
        if (length <= 1) {
            return length == 0 ? EMPTY : SINGLE_BYTES[bytes[offset] & 0xff];
        }
        return new LuaString(Arrays.copyOfRange(bytes, offset, offset + length));
    }

    /** @param latin1 each char is a byte */
    public static LuaString of(String latin1) {
        return of(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    /**
     * The one instance for a name that libraries define. Programs that use the name share it, so that table lookups
     * compare identities. Names stay for the life of the process: only libraries call this, with constants.
     */
    public static LuaString known(String latin1) {
        LuaString string = of(latin1);
        LuaString known = KNOWN.putIfAbsent(string, string);
        return known == null ? string : known;
    }

    /** The instance of {@link #known} that equals this string, else this string. */
    public LuaString shared() {
        return KNOWN.getOrDefault(this, this);
    }

    public int length() {
        return bytes.length;
    }

    /** The byte at an index from 0, as 0 to 255. */
    public int byteAt(int index) {
        return bytes[index] & 0xff;
    }

    /** The string's own bytes. The caller does not modify them. */
    public byte[] array() {
        return bytes;
    }

    /** C Lua's order: as strcoll in the C locale, byte by byte. */
    @Override
    public int compareTo(LuaString other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    /** C Lua's hash of a string. It skips bytes of long strings. */
    @Override
    public int hashCode() {
        int value = hash;
        return value != 0 ? value : computeHash();
    }

    private int computeHash() {
        int value = bytes.length;
        int step = (bytes.length >> 5) + 1;
        for (int i = bytes.length; i >= step; i -= step) {
            value ^= (value << 5) + (value >>> 2) + (bytes[i - 1] & 0xff);
        }
        hash = value;
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof LuaString string && hashCode() == string.hashCode()
                && Arrays.equals(bytes, string.bytes);
    }

    /** Each byte as a char. */
    @Override
    public String toString() {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
