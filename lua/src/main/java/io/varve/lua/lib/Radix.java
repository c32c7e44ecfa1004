package io.varve.lua.lib;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;

/** Reads integers in any base as C's strtoul does. Stateless. */
final class Radix {
    private Radix() {}

    /** The number that all bytes up to a zero byte form, with blanks around it; else null. */
    static Double parse(LuaString text, int base) {
        byte[] bytes = text.array();
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        int at = skipBlanks(bytes, 0, end);
        boolean negative = at < end && bytes[at] == '-';
        if (at < end && (bytes[at] == '-' || bytes[at] == '+')) {
            at++;
        }
        if (base == 16 && at + 2 < end && bytes[at] == '0' && (bytes[at + 1] | 0x20) == 'x'
                && Character.digit(bytes[at + 2], 16) >= 0) {
            at += 2;
        }
        int start = at;
        long value = 0;
        boolean overflow = false;
        long most = Long.divideUnsigned(-1, base);
        while (at < end) {
            int digit = bytes[at] < 0 ? -1 : Character.digit(bytes[at], base);
            if (digit < 0) {
                break;
            }
            overflow |= Long.compareUnsigned(value, most) > 0
                    || value == most && Long.compareUnsigned(digit, -1 - most * base) > 0;
            value = value * base + digit;
            at++;
        }
        if (at == start || skipBlanks(bytes, at, end) < end) {
            return null;
        }
        long result = overflow ? -1 : negative ? -value : value;
        return LuaNumber.box(unsigned(result));
    }

    private static int skipBlanks(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end && (bytes[at] == ' ' || bytes[at] >= '\t' && bytes[at] <= '\r')) {
            at++;
        }
        return at;
    }

    private static double unsigned(long value) {
        return value >= 0 ? value : (value >>> 1 | value & 1) * 2.0;
    }
}
