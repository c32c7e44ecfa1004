package io.varve.lua.interpreter;

import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.Metamethods;

/** Reads of constants and variables. Stateless. */
final class VariableNodes {
    private VariableNodes() {}

    /** A constant. */
    static final class Constant extends Node {
        final Object value;

        Constant(Object value, int line) {
            super(line);
            this.value = value;
        }

        @Override
        Object eval(Frame frame) {
            return value;
        }

        @Override
        boolean isSimple() {
            return true;
        }
    }

    /** A constant number. */
    static final class NumberConstant extends Node {
        final Double boxed;
        final double value;

        NumberConstant(Double value, int line) {
            super(line);
            boxed = value;
            this.value = value;
        }

        @Override
        Object eval(Frame frame) {
            return boxed;
        }

        @Override
        double evalNumber(Frame frame) {
            return value;
        }

        @Override
        boolean isSimple() {
            return true;
        }
    }

    /** A variable that only its function uses. */
    static final class Local extends Node {
        final int slot;
        private final LuaString name;

        Local(int slot, LuaString name, int line) {
            super(line);
            this.slot = slot;
            this.name = name;
        }

        @Override
        Object eval(Frame frame) {
            return frame.registers[slot];
        }

        @Override
        double evalNumber(Frame frame) {
            Object value = frame.registers[slot];
            return value instanceof Double number ? number : frame.other(value);
        }

        @Override
        boolean isSimple() {
            return true;
        }

        @Override
        String description() {
            return "local '" + name + "'";
        }

        @Override
        String calledName() {
            return name.toString();
        }
    }

    /** A variable of this function that inner functions use too. */
    static final class CellLocal extends Node {
        private final int slot;
        private final LuaString name;

        CellLocal(int slot, LuaString name, int line) {
            super(line);
            this.slot = slot;
            this.name = name;
        }

        @Override
        Object eval(Frame frame) {
            return ((Cell) frame.registers[slot]).value;
        }

        @Override
        boolean isSimple() {
            return true;
        }

        @Override
        String description() {
            return "local '" + name + "'";
        }

        @Override
        String calledName() {
            return name.toString();
        }
    }

    /** A variable of an outer function. */
    static final class Upvalue extends Node {
        private final int index;
        private final LuaString name;

        Upvalue(int index, LuaString name, int line) {
            super(line);
            this.index = index;
            this.name = name;
        }

        @Override
        Object eval(Frame frame) {
            return frame.closure.upvalues[index].value;
        }

        @Override
        boolean isSimple() {
            return true;
        }

        @Override
        String description() {
            return "upvalue '" + name + "'";
        }

        @Override
        String calledName() {
            return name.toString();
        }
    }

    /** A global variable. */
    static final class Global extends Node {
        private final LuaString name;

        Global(LuaString name, int line) {
            super(line);
            this.name = name;
        }

        @Override
        Object eval(Frame frame) {
            LuaTable globals = frame.closure.globals;
            Object value = globals.get(name);
            if (value == null && globals.metatable() != null) {
                return Metamethods.index(frame.lua, globals, name, frame.at(this));
            }
            return value;
        }

        @Override
        String description() {
            return "global '" + name + "'";
        }

        @Override
        String calledName() {
            return name.toString();
        }
    }

    /** {@code ...}. */
    static final class VarArgs extends Node {
        VarArgs(int line) {
            super(line);
        }

        @Override
        Object eval(Frame frame) {
            return frame.varArgs.length == 0 ? null : frame.varArgs[0];
        }

        @Override
        Object evalMulti(Frame frame) {
            return frame.lua.results(frame.varArgs, 0, frame.varArgs.length);
        }

        @Override
        boolean isMulti() {
            return true;
        }

        @Override
        boolean isSimple() {
            return true;
        }
    }

    /** The first value of an expression with several. */
    static final class First extends Node {
        private final Node inner;

        First(Node inner, int line) {
            super(line);
            this.inner = inner;
        }

        @Override
        Object eval(Frame frame) {
            return inner.eval(frame);
        }

        @Override
        double evalNumber(Frame frame) {
            return inner.evalNumber(frame);
        }
    }

    /** A function expression. */
    static final class Function extends Node {
        private final Prototype prototype;

        Function(Prototype prototype, int line) {
            super(line);
            this.prototype = prototype;
        }

        @Override
        Object eval(Frame frame) {
            var sources = prototype.upvalues;
            frame.lua.charge(LuaClosure.chargedBytes(sources.length));
            Cell[] cells = new Cell[sources.length];
            for (int i = 0; i < cells.length; i++) {
                var source = sources[i];
                cells[i] = source.fromLocal()
                        ? (Cell) frame.registers[source.index()]
                        : frame.closure.upvalues[source.index()];
            }
            return new LuaClosure(prototype, frame.closure.globals, cells);
        }
    }
}
