package io.varve.lua.interpreter;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.MemoryMeasure;

/** A compiled function with the variables that it captured. Confined to the state's thread. */
final class LuaClosure extends LuaFunction {
    private static final LuaString N = LuaString.known("n");
    private static final Cell[] NO_UPVALUES = new Cell[0];
    private static final int MAX_VAR_ARGS = 1 << 16;
    private static final int BYTES = 40;
    private static final int UPVALUE_BYTES = 24;
    final Prototype prototype;
    final LuaTable globals;
    final Cell[] upvalues;

    /** A function of a chunk. */
    LuaClosure(Prototype prototype, LuaTable globals) {
        this(prototype, globals, NO_UPVALUES);
    }

    LuaClosure(Prototype prototype, LuaTable globals, Cell[] upvalues) {
        this.prototype = prototype;
        this.globals = globals;
        this.upvalues = upvalues;
    }

    static long chargedBytes(int upvalues) {
        return BYTES + (long) UPVALUE_BYTES * upvalues;
    }

    @Override
    public Object call(LuaState lua, Arguments arguments) {
        Frame frame = frame(lua, arguments, arguments);
        lua.enter(frame, prototype.stackBytes);
        Object result = prototype.body.execute(frame) == StatementNode.RETURN ? frame.result : lua.results();
        if (frame.tailCallee != null) {
            return runTailCalls(lua, frame);
        }
        lua.exit(frame, prototype.stackBytes);
        return result;
    }

    private static Object runTailCalls(LuaState lua, Frame first) {
        Frame frame = first;
        Object result = null;
        while (frame.tailCallee != null) {
            Frame next = frame.tailCallee.frame(lua, frame.parent(), frame);
            next.tailCalls = frame.tailCalls + 1;
            lua.exit(frame, frame.closure.prototype.stackBytes);
            lua.enter(next, next.closure.prototype.stackBytes);
            frame = next;
            result = frame.closure.prototype.body.execute(frame) == StatementNode.RETURN
                    ? frame.result
                    : lua.results();
        }
        lua.exit(frame, frame.closure.prototype.stackBytes);
        return result;
    }

    /** A frame with the parameters set. */
    private Frame frame(LuaState lua, Arguments parent, Arguments arguments) {
        Prototype p = prototype;
        Frame frame = new Frame(parent, lua, this, p.registers);
        Object[] registers = frame.registers;
        Object[] source = arguments.array();
        int from = arguments.offset();
        int given = Math.min(arguments.count(), p.parameters);
        for (int i = 0; i < given; i++) {
            registers[i] = source[from + i];
        }
        if (p.varArgs) {
            takeVarArgs(lua, frame, arguments);
        }
        for (int cell : p.cells) {
            registers[cell] = new Cell(registers[cell]);
        }
        return frame;
    }

    private void takeVarArgs(LuaState lua, Frame frame, Arguments arguments) {
        int extra = arguments.count() - prototype.parameters;
        if (extra > 0) {
            if (extra > MAX_VAR_ARGS) {
                throw new LuaError("stack overflow");
            }
            int from = arguments.offset() + prototype.parameters;
            lua.charge(16L + 4L * extra);
            frame.varArgs = Arrays.copyOfRange(arguments.array(), from, from + extra);
        }
        if (prototype.argSlot >= 0) {
            LuaTable arg = lua.newTable(Math.max(extra, 0), 1);
            for (int i = 0; i < extra; i++) {
                arg.put(i + 1, frame.varArgs[i]);
            }
            arg.put(N, LuaNumber.box(Math.max(extra, 0)));
            frame.registers[prototype.argSlot] = arg;
        }
    }

    @Override
    public boolean isNative() {
        return false;
    }

    @Override
    protected void addReferences(MemoryMeasure measure) {
        measure.add(globals);
        for (Cell cell : upvalues) {
            measure.add(cell.value);
        }
    }

    @Override
    protected long size() {
        return chargedBytes(upvalues.length);
    }
}
