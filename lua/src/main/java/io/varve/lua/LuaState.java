package io.varve.lua;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The state that the scripts of one thread share: globals, metatables of types, limits, and the call in progress.
 * Confined to one thread, and to that of the running coroutine.
 */
@SuppressWarnings("ReferenceEquality") // Equality of Lua values begins with identity.
public final class LuaState {
    /** Calls and loop iterations between two calls of the watch. */
    private static final int TICKS = 1000;
    /** C Lua's LUAI_MAXCCALLS: nested calls through native code. */
    private static final int MAX_NATIVE_DEPTH = 200;
    private static final NativeFunction.Body CHECK = (lua, arguments) -> {
        lua.watch.check();
        return null;
    };
    private static final Object[] NO_VALUES = new Object[0];

    private final LuaMeter meter;
    private final LuaLimits limits;
    private final LuaTable globals;
    private final Results results = new Results();
    private Watch watch = () -> {};
    private LuaTable stringMetatable;
    private int ticks = TICKS;
    private int nativeDepth;
    /** The innermost level of the call stack, from which a measure starts. */
    private Arguments current;
    private int stackUsed;
    private Object[] roots = new Object[16];
    private int rootCount;
    private long heldBytes;
    private final List<Runnable> resets = new ArrayList<>();
    private int stackLimit;
    private final Coroutines coroutines = new Coroutines(this);

    /** Decides at intervals whether the script goes on. */
    @FunctionalInterface
    public interface Watch {
        /** Throws {@link LuaKilled} to end the script. */
        void check();
    }

    public LuaState(LuaLimits limits) {
        this.limits = limits;
        stackLimit = limits.stackBytes();
        meter = new LuaMeter(this, limits.memoryBytes(), limits.pool());
        globals = newTable();
    }

    public void watch(Watch value) {
        watch = value;
    }

    public LuaTable globals() {
        return globals;
    }

    public LuaLimits limits() {
        return limits;
    }

    // ---- values -----------------------------------------------------------------------------------------------------

    public LuaTable newTable() {
        return new LuaTable(meter, 0, 0);
    }

    /** A table with room, as lua_createtable. */
    public LuaTable newTable(int arrayCapacity, int nodeCapacity) {
        return new LuaTable(meter, arrayCapacity, nodeCapacity);
    }

    /** Charges a string of a length: call it before its bytes are allocated. */
    public void chargeString(long length) {
        meter.charge(40 + length);
    }

    /** Charges memory: call it before it is allocated. It throws "not enough memory" if the limit is exceeded. */
    public void charge(long bytes) {
        meter.charge(bytes);
    }

    /** Charges memory of a native buffer, which counts as live until {@link #release}. */
    public void hold(long bytes) {
        meter.charge(bytes);
        heldBytes += bytes;
    }

    /** Ends the life of held memory. */
    public void release(long bytes) {
        heldBytes -= bytes;
    }

    /** The number of roots: what {@link #unroot} takes. */
    public int roots() {
        return rootCount;
    }

    /** Counts a value that only native code refers to as live until {@link #unroot}. */
    public void root(Object value) {
        if (rootCount == roots.length) {
            roots = Arrays.copyOf(roots, 2 * rootCount);
        }
        roots[rootCount++] = value;
    }

    /** Drops the roots beyond a number of them. */
    public void unroot(int count) {
        Arrays.fill(roots, count, rootCount, null);
        rootCount = count;
    }

    /** At most this many bytes are in use. */
    public long usedBytes() {
        return meter.used();
    }

    /** Measures the live memory. */
    public long measure() {
        return meter.measureNow();
    }

    /** Lua's name of a value's type. */
    public static String typeName(Object value) {
        return switch (value) {
            case null -> "nil";
            case LuaString ignored -> "string";
            case Double ignored -> "number";
            case LuaTable ignored -> "table";
            case Boolean ignored -> "boolean";
            case LuaFunction ignored -> "function";
            case Coroutine ignored -> "thread";
            default -> "userdata";
        };
    }

    /** False for nil and false. */
    public static boolean isTrue(Object value) {
        return value != null && value != Boolean.FALSE;
    }

    // ---- results ----------------------------------------------------------------------------------------------------

    /** No value. */
    public Results results() {
        results.count = 0;
        return results;
    }

    public Results results(Object first, Object second) {
        results.values[0] = first;
        results.values[1] = second;
        results.count = 2;
        return results;
    }

    public Results results(Object first, Object second, Object third) {
        results.values[2] = third;
        results(first, second);
        results.count = 3;
        return results;
    }

    /** A copy of some values. */
    public Results results(Object[] values, int offset, int count) {
        return results.set(values, offset, count);
    }

    /** A value, and then what a function returned. */
    public Results prepend(Object first, Object returned) {
        int more = returned instanceof Results ? results.count : 1;
        results.ensure(more + 1);
        if (returned instanceof Results) {
            System.arraycopy(results.values, 0, results.values, 1, more);
        } else {
            results.values[1] = returned;
        }
        results.values[0] = first;
        results.count = more + 1;
        return results;
    }

    /** The first of what a function returned, or nil. */
    public static Object first(Object returned) {
        return returned instanceof Results several ? several.count == 0 ? null : several.values[0] : returned;
    }

    // ---- calls ------------------------------------------------------------------------------------------------------

    /** Calls a function, or a value with the metamethod __call. Native code that calls back nests at most 200 deep. */
    public Object call(Object function, Object... arguments) {
        return call(function, arguments, 0, arguments.length);
    }

    /** Calls a function with some values of an array, which stays as it is until the call ends. */
    public Object call(Object function, Object[] values, int offset, int count) {
        return call(function, new Arguments(current, values, offset, count));
    }

    private Object call(Object function, Arguments arguments) {
        if (++nativeDepth >= MAX_NATIVE_DEPTH) {
            nativeDepth--;
            throw new LuaError("C stack overflow");
        }
        Arguments saved = current;
        Object returned = function instanceof LuaFunction callable
                ? callable.call(this, arguments)
                : Metamethods.callOther(this, function, arguments, 0);
        // After an error they stay: who catches it sees where it happened, and restores them.
        nativeDepth--;
        current = saved;
        return returned;
    }

    /** Calls a metamethod and takes its first value. */
    Object callMetamethod(Arguments site, Object function, Object... arguments) {
        Arguments call = site == Metamethods.NATIVE
                ? new Arguments(current, arguments, 0, arguments.length)
                : new Metamethods.HandlerCall(site, arguments, false);
        return first(call(function, call));
    }

    /** Counts a step of a loop in native code; ends the script if the watch says so. */
    public void tick() {
        if (--ticks <= 0) {
            check();
        }
    }

    /** Counts several steps. */
    public void tick(int steps) {
        ticks -= steps;
        if (ticks <= 0) {
            check();
        }
    }

    /** Counts several steps, after which the next one may end the script. */
    void countSteps(int steps) {
        ticks = Math.max(0, ticks - steps);
    }

    private void check() {
        ticks = TICKS;
        coroutines.onOwner(CHECK, null);
    }

    /** The innermost level of the call stack: compiled functions set it when they begin and end. */
    public Arguments current() {
        return current;
    }

    public void current(Arguments level) {
        current = level;
    }

    /** Begins a call of a compiled function. Each takes a share of the thread's stack. */
    public void enter(Arguments level, int stackBytes) {
        stackUsed += stackBytes;
        if (stackUsed > stackLimit) {
            stackUsed -= stackBytes;
            throw level.parent().runtimeError("stack overflow");
        }
        current = level;
        if (--ticks <= 0) {
            check();
        }
    }

    /** Ends a call of a compiled function. */
    public void exit(Arguments level, int stackBytes) {
        stackUsed -= stackBytes;
        current = level.parent();
    }

    public Coroutines coroutines() {
        return coroutines;
    }

    int nativeDepth() {
        return nativeDepth;
    }

    /** Sets the limit of the stack in use, and returns the one before. */
    int stackLimit(int bytes) {
        int before = stackLimit;
        stackLimit = bytes;
        return before;
    }

    /** The part of the state that a protected call restores when it catches an error. */
    public long mark() {
        return (long) stackUsed << 32 | nativeDepth;
    }

    /** Restores the depth of a mark and a level of the call stack. */
    public void restore(long mark, Arguments level) {
        stackUsed = (int) (mark >>> 32);
        nativeDepth = (int) mark;
        current = level;
    }

    // ---- metatables -------------------------------------------------------------------------------------------------

    public void stringMetatable(LuaTable table) {
        stringMetatable = table;
    }

    public LuaTable metatable(Object value) {
        return value instanceof LuaTable table
                ? table.metatable()
                : value instanceof LuaString ? stringMetatable : null;
    }

    /** A field of a value's metatable, or nil. */
    public Object metafield(Object value, LuaString name) {
        LuaTable metatable = metatable(value);
        return metatable == null ? null : metatable.get(name);
    }

    /** {@code value[key]} with metamethods. */
    public Object index(Object value, Object key) {
        return Metamethods.index(this, value, key, Metamethods.NATIVE);
    }

    /** {@code value[key] = item} with metamethods. */
    public void setIndex(Object value, Object key, Object item) {
        Metamethods.setIndex(this, value, key, item, Metamethods.NATIVE);
    }

    /** {@code a < b} with metamethods. */
    public boolean lessThan(Object a, Object b) {
        return Metamethods.lessThan(this, a, b, Metamethods.NATIVE);
    }

    /** {@code a == b} with metamethods. */
    public boolean isEqual(Object a, Object b) {
        return Metamethods.isEqual(this, a, b, Metamethods.NATIVE);
    }

    /** Equality without metamethods. */
    public static boolean rawEqual(Object a, Object b) {
        if (a == b) {
            return !(a instanceof Double number) || !number.isNaN();
        }
        return a instanceof Double x
                ? b instanceof Double y && x.doubleValue() == y.doubleValue()
                : a instanceof LuaString string && string.equals(b);
    }

    /** The function tostring, with the metamethod __tostring. */
    public Object tostring(Object value) {
        return Metamethods.tostring(this, value);
    }

    // ---- runs -------------------------------------------------------------------------------------------------------

    /** Runs something at the end of each run, for example to reset what a library keeps. */
    public void onEndRun(Runnable reset) {
        resets.add(reset);
    }

    /** Ends a script's run: drops values that only the run reached. */
    public void endRun() {
        coroutines.endAll();
        stackLimit = limits.stackBytes();
        results.clear();
        current = null;
        nativeDepth = 0;
        stackUsed = 0;
        ticks = TICKS;
        unroot(0);
        heldBytes = 0;
        resets.forEach(Runnable::run);
        meter.endRun();
    }

    void addReferences(MemoryMeasure measure) {
        measure.add(globals);
        measure.add(stringMetatable);
        measure.add(results.values, 0, results.values.length);
        measure.add(roots, 0, rootCount);
        measure.addBytes(heldBytes);
        coroutines.addReferences(measure);
        for (Arguments level = current; level != null; level = level.parent) {
            level.addReferences(measure);
        }
    }

    static Object[] noValues() {
        return NO_VALUES;
    }

    static Object[] copy(Object[] values, int offset, int count) {
        return count == 0 ? NO_VALUES : Arrays.copyOfRange(values, offset, offset + count);
    }
}
