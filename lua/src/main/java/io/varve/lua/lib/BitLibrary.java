package io.varve.lua.lib;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;

/** The library {@code bit}: operations on 32 bits. Stateless. */
final class BitLibrary {
    /** Added to a number, it puts the low 32 bits of its integer, rounded half to even, into the number's low bits. */
    private static final double SHIFT = 0x1p52 + 0x1p51;
    private static final int MAX_DIGITS = 8;

    private BitLibrary() {}

    /** An operation on two integers. */
    private interface Operation {
        int apply(int a, int b);
    }

    static void install(LuaState lua, LuaTable globals) {
        LuaTable bit = lua.newTable();
        Library.register(bit, "tobit", (state, arguments) -> LuaNumber.box(argument(arguments, 1)));
        Library.register(bit, "bnot", (state, arguments) -> LuaNumber.box(~argument(arguments, 1)));
        Library.register(bit, "bswap",
                (state, arguments) -> LuaNumber.box(Integer.reverseBytes(argument(arguments, 1))));
        Library.register(bit, "tohex", BitLibrary::toHex);
        fold(bit, "band", (a, b) -> a & b);
        fold(bit, "bor", (a, b) -> a | b);
        fold(bit, "bxor", (a, b) -> a ^ b);
        // As in C on x86 only the low five bits of the second number count: Java's shifts do the same.
        pair(bit, "lshift", (a, b) -> a << b);
        pair(bit, "rshift", (a, b) -> a >>> b);
        pair(bit, "arshift", (a, b) -> a >> b);
        pair(bit, "rol", Integer::rotateLeft);
        pair(bit, "ror", Integer::rotateRight);
        Library.publish(globals, "bit", bit);
    }

    private static void fold(LuaTable bit, String name, Operation operation) {
        Library.register(bit, name, (lua, arguments) -> {
            int result = argument(arguments, 1);
            for (int i = arguments.count(); i > 1; i--) {
                result = operation.apply(result, argument(arguments, i));
            }
            return LuaNumber.box(result);
        });
    }

    private static void pair(LuaTable bit, String name, Operation operation) {
        Library.register(bit, name, (lua, arguments) -> {
            int first = argument(arguments, 1);
            return LuaNumber.box(operation.apply(first, argument(arguments, 2)));
        });
    }

    private static int argument(Arguments arguments, int index) {
        Double number = LuaNumber.toNumber(arguments.get(index));
        if (number == null) {
            throw arguments.typeError(index, "number");
        }
        return (int) Double.doubleToRawLongBits(number + SHIFT);
    }

    private static Object toHex(LuaState lua, Arguments arguments) {
        int rest = argument(arguments, 1);
        int wanted = arguments.isNone(2) ? MAX_DIGITS : argument(arguments, 2);
        String digits = wanted < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
        // The absolute value of the smallest integer is negative.
        int count = wanted == Integer.MIN_VALUE ? MAX_DIGITS : Math.min(Math.abs(wanted), MAX_DIGITS);
        byte[] text = new byte[count];
        for (int i = count - 1; i >= 0; i--) {
            text[i] = (byte) digits.charAt(rest & 15);
            rest >>>= 4;
        }
        return LuaString.of(text);
    }
}
