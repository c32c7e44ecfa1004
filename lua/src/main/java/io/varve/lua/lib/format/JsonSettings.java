package io.varve.lua.lib.format;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;

/** The settings that a script may change in a {@code cjson} library. Confined to the state's thread. */
final class JsonSettings {
    /** Values of {@link #encodeInvalidNumbers}. */
    static final int REFUSE = 0;
    static final int AS_NULL = 2;

    private static final int DEFAULT_DEPTH = 1000;
    private static final int DEFAULT_RATIO = 2;
    private static final int DEFAULT_SAFE = 10;
    private static final int MAX_PRECISION = 14;
    private static final String[] SWITCH = {"off", "on"};
    private static final String[] SWITCH_OR_NULL = {"off", "on", "null"};

    int sparseConvert;
    int sparseRatio;
    int sparseSafe;
    int encodeMaxDepth;
    int decodeMaxDepth;
    int encodePrecision;
    int encodeKeepBuffer;
    int encodeInvalidNumbers;
    int decodeInvalidNumbers;

    JsonSettings() {
        reset();
    }

    /** Sets all to their defaults. */
    void reset() {
        sparseConvert = 0;
        sparseRatio = DEFAULT_RATIO;
        sparseSafe = DEFAULT_SAFE;
        encodeMaxDepth = DEFAULT_DEPTH;
        decodeMaxDepth = DEFAULT_DEPTH;
        encodePrecision = MAX_PRECISION;
        encodeKeepBuffer = 1;
        encodeInvalidNumbers = REFUSE;
        decodeInvalidNumbers = 1;
    }

    Object sparseArray(LuaState lua, Arguments arguments) {
        checkCount(arguments, 3);
        sparseConvert = option(arguments, 1, sparseConvert, SWITCH);
        sparseRatio = integer(arguments, 2, sparseRatio, 0, Integer.MAX_VALUE);
        sparseSafe = integer(arguments, 3, sparseSafe, 0, Integer.MAX_VALUE);
        return lua.results(sparseConvert != 0, LuaNumber.box(sparseRatio), LuaNumber.box(sparseSafe));
    }

    Object encodeMaxDepth(LuaState lua, Arguments arguments) {
        checkCount(arguments, 1);
        encodeMaxDepth = integer(arguments, 1, encodeMaxDepth, 1, Integer.MAX_VALUE);
        return LuaNumber.box(encodeMaxDepth);
    }

    Object decodeMaxDepth(LuaState lua, Arguments arguments) {
        checkCount(arguments, 1);
        decodeMaxDepth = integer(arguments, 1, decodeMaxDepth, 1, Integer.MAX_VALUE);
        return LuaNumber.box(decodeMaxDepth);
    }

    Object encodePrecision(LuaState lua, Arguments arguments) {
        checkCount(arguments, 1);
        encodePrecision = integer(arguments, 1, encodePrecision, 1, MAX_PRECISION);
        return LuaNumber.box(encodePrecision);
    }

    /** Has no effect: buffers are not kept. */
    Object encodeKeepBuffer(LuaState lua, Arguments arguments) {
        checkCount(arguments, 1);
        encodeKeepBuffer = option(arguments, 1, encodeKeepBuffer, SWITCH);
        return encodeKeepBuffer != 0;
    }

    Object encodeInvalidNumbers(LuaState lua, Arguments arguments) {
        checkCount(arguments, 1);
        encodeInvalidNumbers = option(arguments, 1, encodeInvalidNumbers, SWITCH_OR_NULL);
        return encodeInvalidNumbers == AS_NULL
                ? LuaString.of("null")
                : (Object) (encodeInvalidNumbers != REFUSE);
    }

    Object decodeInvalidNumbers(LuaState lua, Arguments arguments) {
        checkCount(arguments, 1);
        decodeInvalidNumbers = option(arguments, 1, decodeInvalidNumbers, SWITCH);
        return decodeInvalidNumbers != 0;
    }

    private static void checkCount(Arguments arguments, int most) {
        if (arguments.count() > most) {
            throw arguments.argumentError(most + 1, "found too many arguments");
        }
    }

    private static int integer(Arguments arguments, int index, int present, int min, int max) {
        if (arguments.isNoneOrNil(index)) {
            return present;
        }
        int value = arguments.checkInt(index);
        if (value < min || value > max) {
            // C's library names the first argument whichever it was.
            throw arguments.argumentError(1, "expected integer between " + min + " and " + max);
        }
        return value;
    }

    private static int option(Arguments arguments, int index, int present, String[] options) {
        Object value = arguments.get(index);
        if (value == null) {
            return present;
        }
        return value instanceof Boolean on ? on ? 1 : 0 : arguments.checkOption(index, null, options);
    }
}
