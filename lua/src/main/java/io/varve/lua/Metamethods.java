package io.varve.lua;

/**
 * Operations on any values, with metamethods: the slow paths of the interpreter, and what libraries use. Stateless. An
 * {@link Arguments} says for error messages which operation is in progress.
 */
public final class Metamethods {
    /** An operation in native code: messages name no variable and no position. */
    public static final Arguments NATIVE = new Arguments(null, new Object[0], 0, 0);
    private static final int MAX_LOOP = 100;
    private static final int MAX_CALLABLE = 100;
    private static final LuaString INDEX = LuaString.known("__index");
    private static final LuaString NEW_INDEX = LuaString.known("__newindex");
    private static final LuaString CALL = LuaString.known("__call");
    private static final LuaString EQUAL = LuaString.known("__eq");
    private static final LuaString LESS_THAN = LuaString.known("__lt");
    private static final LuaString LESS_EQUAL = LuaString.known("__le");
    private static final LuaString CONCAT = LuaString.known("__concat");
    private static final LuaString LENGTH = LuaString.known("__len");
    private static final LuaString NEGATE = LuaString.known("__unm");
    private static final LuaString TO_STRING = LuaString.known("__tostring");
    private static final int INDEX_BIT = 1;
    private static final int NEW_INDEX_BIT = 2;
    private static final int EQUAL_BIT = 4;

    /** The operators that strings with numbers take too. */
    @SuppressWarnings("ImmutableEnumChecker") // Strings do not change.
    public enum Arithmetic {
        ADD("__add"), SUBTRACT("__sub"), MULTIPLY("__mul"), DIVIDE("__div"), MODULO("__mod"), POWER("__pow");

        private final LuaString event;

        Arithmetic(String event) {
            this.event = LuaString.known(event);
        }

        /** The result for numbers. */
        public double apply(double a, double b) {
            return switch (this) {
                case ADD -> a + b;
                case SUBTRACT -> a - b;
                case MULTIPLY -> a * b;
                case DIVIDE -> a / b;
                case MODULO -> a - Math.floor(a / b) * b;
                case POWER -> LuaNumber.power(a, b);
            };
        }
    }

    /** A call that an operation of compiled code makes: native handlers see that code as their caller. */
    static final class HandlerCall extends Arguments {
        private final boolean named;

        /** @param named the call has the name that the operation has for the value */
        HandlerCall(Arguments site, Object[] values, boolean named) {
            super(site, values, 0, values.length);
            this.named = named;
        }

        @Override
        public String where(int level) {
            return parent.where(level);
        }

        @Override
        protected String calledName() {
            return named ? parent.calledName() : "?";
        }
    }

    private Metamethods() {}

    /** A metamethod of a metatable that may be null; tables remember which of a few they do not have. */
    private static Object fast(LuaTable metatable, LuaString event, int bit) {
        if (metatable == null || (metatable.absentEvents & bit) != 0) {
            return null;
        }
        Object found = metatable.get(event);
        if (found == null) {
            metatable.absentEvents |= bit;
        }
        return found;
    }

    /** {@code value[key]}. */
    public static Object index(LuaState lua, Object value, Object key, Arguments site) {
        Object target = value;
        for (int i = 0; i < MAX_LOOP; i++) {
            Object handler;
            if (target instanceof LuaTable table) {
                Object found = table.get(key);
                if (found != null) {
                    return found;
                }
                handler = fast(table.metatable(), INDEX, INDEX_BIT);
                if (handler == null) {
                    return null;
                }
            } else {
                handler = lua.metafield(target, INDEX);
                if (handler == null) {
                    throw site.operandError("index", target, 0);
                }
            }
            if (handler instanceof LuaFunction) {
                return lua.callMetamethod(site, handler, target, key);
            }
            target = handler;
        }
        throw site.runtimeError("loop in gettable");
    }

    /** {@code value[key] = item}. */
    public static void setIndex(LuaState lua, Object value, Object key, Object item, Arguments site) {
        Object target = value;
        for (int i = 0; i < MAX_LOOP; i++) {
            Object handler;
            if (target instanceof LuaTable table) {
                handler = table.metatable() == null || table.get(key) != null
                        ? null
                        : fast(table.metatable(), NEW_INDEX, NEW_INDEX_BIT);
                if (handler == null) {
                    setRaw(table, key, item, site);
                    return;
                }
            } else {
                handler = lua.metafield(target, NEW_INDEX);
                if (handler == null) {
                    throw site.operandError("index", target, 0);
                }
            }
            if (handler instanceof LuaFunction) {
                lua.callMetamethod(site, handler, target, key, item);
                return;
            }
            target = handler;
        }
        throw site.runtimeError("loop in settable");
    }

    private static void setRaw(LuaTable table, Object key, Object item, Arguments site) {
        if (table.isReadOnly()) {
            throw site.runtimeError("Attempt to modify a readonly table");
        }
        if (key == null) {
            throw site.runtimeError("table index is nil");
        }
        if (key instanceof Double number && number.isNaN()) {
            throw site.runtimeError("table index is NaN");
        }
        table.put(key, item);
    }

    /** Calls a value that is no function. */
    public static Object callOther(LuaState lua, Object value, Arguments site, int depth) {
        Object handler = lua.metafield(value, CALL);
        if (handler == null || depth > MAX_CALLABLE) {
            throw site.operandError("call", value, 0);
        }
        Object[] shifted = new Object[site.count + 1];
        shifted[0] = value;
        System.arraycopy(site.values, site.offset, shifted, 1, site.count);
        Arguments arguments = new HandlerCall(site, shifted, true);
        if (handler instanceof LuaFunction function) {
            return function.call(lua, arguments);
        }
        return callOther(lua, handler, arguments, depth + 1);
    }

    /** An arithmetic operation whose operands are not both numbers. */
    public static Object arithmetic(LuaState lua, Arithmetic operation, Object a, Object b, Arguments site) {
        Double x = LuaNumber.toNumber(a);
        Double y = x == null ? null : LuaNumber.toNumber(b);
        if (y != null) {
            return LuaNumber.box(operation.apply(x, y));
        }
        Object handler = lua.metafield(a, operation.event);
        if (handler == null) {
            handler = lua.metafield(b, operation.event);
        }
        if (handler == null) {
            int operand = x == null ? 0 : 1;
            throw site.operandError("perform arithmetic on", operand == 0 ? a : b, operand);
        }
        return lua.callMetamethod(site, handler, a, b);
    }

    /** {@code -value} for no number. */
    public static Object negate(LuaState lua, Object value, Arguments site) {
        Double number = LuaNumber.toNumber(value);
        if (number != null) {
            return LuaNumber.box(-number);
        }
        Object handler = lua.metafield(value, NEGATE);
        if (handler == null) {
            throw site.operandError("perform arithmetic on", value, 0);
        }
        return lua.callMetamethod(site, handler, value, value);
    }

    /** {@code #value}. Lua 5.1 asks no metamethod for tables and strings. */
    public static Object length(LuaState lua, Object value, Arguments site) {
        if (value instanceof LuaTable table) {
            return LuaNumber.box(table.length());
        }
        if (value instanceof LuaString string) {
            return LuaNumber.box(string.length());
        }
        Object handler = lua.metafield(value, LENGTH);
        if (handler == null) {
            throw site.operandError("get length of", value, 0);
        }
        return lua.callMetamethod(site, handler, value, null);
    }

    /** {@code a .. b}. */
    public static Object concat(LuaState lua, Object a, Object b, Arguments site) {
        LuaString x = LuaNumber.toLuaString(a);
        LuaString y = LuaNumber.toLuaString(b);
        if (x != null && y != null) {
            long length = (long) x.length() + y.length();
            lua.chargeString(length);
            byte[] bytes = new byte[(int) length];
            System.arraycopy(x.array(), 0, bytes, 0, x.length());
            System.arraycopy(y.array(), 0, bytes, x.length(), y.length());
            return LuaString.of(bytes);
        }
        Object handler = lua.metafield(a, CONCAT);
        if (handler == null) {
            handler = lua.metafield(b, CONCAT);
        }
        if (handler == null) {
            int operand = x == null ? 0 : 1;
            throw site.operandError("concatenate", operand == 0 ? a : b, operand);
        }
        return lua.callMetamethod(site, handler, a, b);
    }

    /** {@code a == b}. */
    public static boolean isEqual(LuaState lua, Object a, Object b, Arguments site) {
        if (LuaState.rawEqual(a, b)) {
            return true;
        }
        if (!(a instanceof LuaTable x) || !(b instanceof LuaTable y)) {
            return false;
        }
        Object handler = sameHandler(x.metatable(), y.metatable(), EQUAL, EQUAL_BIT);
        return handler != null && LuaState.isTrue(lua.callMetamethod(site, handler, a, b));
    }

    private static Object sameHandler(LuaTable a, LuaTable b, LuaString event, int bit) {
        Object first = fast(a, event, bit);
        if (first == null || a == b) {
            return first;
        }
        Object second = fast(b, event, bit);
        return second != null && LuaState.rawEqual(first, second) ? first : null;
    }

    /** {@code a < b}. */
    public static boolean lessThan(LuaState lua, Object a, Object b, Arguments site) {
        if (a instanceof Double x && b instanceof Double y) {
            return x < y;
        }
        if (a instanceof LuaString x && b instanceof LuaString y) {
            return x.compareTo(y) < 0;
        }
        return LuaState.isTrue(compare(lua, a, b, LESS_THAN, site));
    }

    /** {@code a <= b}. */
    public static boolean lessEqual(LuaState lua, Object a, Object b, Arguments site) {
        if (a instanceof Double x && b instanceof Double y) {
            return x <= y;
        }
        if (a instanceof LuaString x && b instanceof LuaString y) {
            return x.compareTo(y) <= 0;
        }
        if (LuaState.typeName(a).equals(LuaState.typeName(b))) {
            Object handler = orderHandler(lua, a, b, LESS_EQUAL);
            if (handler != null) {
                return LuaState.isTrue(lua.callMetamethod(site, handler, a, b));
            }
            handler = orderHandler(lua, b, a, LESS_THAN);
            if (handler != null) {
                return !LuaState.isTrue(lua.callMetamethod(site, handler, b, a));
            }
        }
        throw orderError(a, b, site);
    }

    private static Object compare(LuaState lua, Object a, Object b, LuaString event, Arguments site) {
        if (!LuaState.typeName(a).equals(LuaState.typeName(b))) {
            throw orderError(a, b, site);
        }
        Object handler = orderHandler(lua, a, b, event);
        if (handler == null) {
            throw orderError(a, b, site);
        }
        return lua.callMetamethod(site, handler, a, b);
    }

    private static Object orderHandler(LuaState lua, Object a, Object b, LuaString event) {
        Object first = lua.metafield(a, event);
        return first != null && LuaState.rawEqual(first, lua.metafield(b, event)) ? first : null;
    }

    private static LuaError orderError(Object a, Object b, Arguments site) {
        String first = LuaState.typeName(a);
        String second = LuaState.typeName(b);
        return site.runtimeError(first.equals(second)
                ? "attempt to compare two " + first + " values"
                : "attempt to compare " + first + " with " + second);
    }

    static Object tostring(LuaState lua, Object value) {
        if (value instanceof LuaString) {
            return value;
        }
        Object handler = lua.metafield(value, TO_STRING);
        if (handler != null) {
            return LuaState.first(lua.call(handler, value));
        }
        return switch (value) {
            case null -> LuaString.known("nil");
            case Double number -> LuaString.of(LuaNumber.toString(number));
            case Boolean truth -> LuaString.known(truth ? "true" : "false");
            case LightUserdata userdata -> LuaString.known("userdata: " + userdata);
            default -> LuaString.of(LuaState.typeName(value) + ": 0x"
                    + Long.toHexString(0x7f00_0000_0000L + 16L * System.identityHashCode(value)));
        };
    }
}
