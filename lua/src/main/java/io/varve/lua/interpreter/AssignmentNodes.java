package io.varve.lua.interpreter;

import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.Metamethods;
import io.varve.lua.Results;

/** Declarations and assignments. Stateless. */
final class AssignmentNodes {
    private AssignmentNodes() {}

    /** Declares or assigns a variable that only its function uses. */
    static final class SetLocal extends StatementNode {
        private final int slot;
        private final Node value;

        SetLocal(int slot, Node value) {
            this.slot = slot;
            this.value = value;
        }

        @Override
        int execute(Frame frame) {
            frame.registers[slot] = value.eval(frame);
            return NORMAL;
        }
    }

    /** Declares a variable that inner functions use: each execution makes a new one. */
    static final class NewCell extends StatementNode {
        private final int slot;
        private final Node value;

        NewCell(int slot, Node value) {
            this.slot = slot;
            this.value = value;
        }

        @Override
        int execute(Frame frame) {
            frame.registers[slot] = new Cell(value.eval(frame));
            return NORMAL;
        }
    }

    /** {@code local function}: the variable exists before the function, which may refer to it. */
    static final class NewFunctionCell extends StatementNode {
        private final int slot;
        private final Node function;

        NewFunctionCell(int slot, Node function) {
            this.slot = slot;
            this.function = function;
        }

        @Override
        int execute(Frame frame) {
            Cell cell = new Cell(null);
            frame.registers[slot] = cell;
            cell.value = function.eval(frame);
            return NORMAL;
        }
    }

    /** Declares several variables. */
    static final class DeclareLocals extends StatementNode {
        private final int base;
        private final boolean[] cells;
        private final Node[] values;

        /** @param cells for each variable, whether inner functions use it */
        DeclareLocals(int base, boolean[] cells, Node[] values) {
            this.base = base;
            this.cells = cells;
            this.values = values;
        }

        @Override
        int execute(Frame frame) {
            evaluate(frame, values, base, cells.length);
            for (int i = 0; i < cells.length; i++) {
                if (cells[i]) {
                    frame.registers[base + i] = new Cell(frame.registers[base + i]);
                }
            }
            return NORMAL;
        }
    }

    /** Evaluates expressions into registers: as many as are wanted, with nil for those that are missing. */
    static void evaluate(Frame frame, Node[] values, int base, int wanted) {
        Object[] registers = frame.registers;
        int last = values.length - 1;
        for (int i = 0; i <= last; i++) {
            if (i == last && last < wanted - 1 && values[i].isMulti()) {
                spread(registers, base + i, wanted - i, values[i].evalMulti(frame));
                return;
            }
            Object value = values[i].eval(frame);
            if (i < wanted) {
                registers[base + i] = value;
            }
        }
        for (int i = values.length; i < wanted; i++) {
            registers[base + i] = null;
        }
    }

    private static void spread(Object[] registers, int base, int wanted, Object returned) {
        if (returned instanceof Results several) {
            for (int i = 0; i < wanted; i++) {
                registers[base + i] = several.get(i + 1);
            }
        } else {
            registers[base] = returned;
            for (int i = 1; i < wanted; i++) {
                registers[base + i] = null;
            }
        }
    }

    /** Assigns a variable that inner functions use. */
    static final class SetCell extends StatementNode {
        private final int slot;
        private final Node value;

        SetCell(int slot, Node value) {
            this.slot = slot;
            this.value = value;
        }

        @Override
        int execute(Frame frame) {
            Object assigned = value.eval(frame);
            ((Cell) frame.registers[slot]).value = assigned;
            return NORMAL;
        }
    }

    /** Assigns a variable of an outer function. */
    static final class SetUpvalue extends StatementNode {
        private final int index;
        private final Node value;

        SetUpvalue(int index, Node value) {
            this.index = index;
            this.value = value;
        }

        @Override
        int execute(Frame frame) {
            Object assigned = value.eval(frame);
            frame.closure.upvalues[index].value = assigned;
            return NORMAL;
        }
    }

    /** Assigns a field or a global variable. It is a node because messages refer to it. */
    static final class SetIndex extends Node {
        private final Node object;
        private final Node key;
        private final Node value;
        private final int base;

        /** @param object null for a global variable */
        SetIndex(Node object, Node key, Node value, int base, int line) {
            super(line);
            this.object = object;
            this.key = key;
            this.value = value;
            this.base = base;
        }

        @Override
        Object eval(Frame frame) {
            Object target = object == null ? frame.closure.globals : object.eval(frame);
            frame.registers[base] = target;
            Object index = key.eval(frame);
            frame.registers[base + 1] = index;
            Object assigned = value.eval(frame);
            if (target instanceof LuaTable table && !table.isReadOnly() && table.metatable() == null) {
                if (index instanceof LuaString name) {
                    table.put(name, assigned);
                    return null;
                }
                if (index instanceof Double number && !number.isNaN()) {
                    table.put(number.doubleValue(), assigned);
                    return null;
                }
            }
            Metamethods.setIndex(frame.lua, target, index, assigned, frame.at(this));
            return null;
        }

        @Override
        String operandDescription(int operand) {
            return object == null ? null : object.description();
        }
    }

    /** Evaluates a node for its effect. */
    static final class Effect extends StatementNode {
        private final Node node;

        Effect(Node node) {
            this.node = node;
        }

        @Override
        int execute(Frame frame) {
            node.eval(frame);
            return NORMAL;
        }
    }

    /** Assigns several targets: objects, keys and values are evaluated first, and then assigned from the right. */
    static final class AssignAll extends StatementNode {
        private final Target[] targets;
        private final Node[] values;
        private final int base;

        /** @param base the first register for the values */
        AssignAll(Target[] targets, Node[] values, int base) {
            this.targets = targets;
            this.values = values;
            this.base = base;
        }

        @Override
        int execute(Frame frame) {
            for (Target target : targets) {
                target.prepare(frame);
            }
            evaluate(frame, values, base, targets.length);
            for (int i = targets.length - 1; i >= 0; i--) {
                targets[i].assign(frame, frame.registers[base + i]);
            }
            return NORMAL;
        }
    }

    /** A target of a multiple assignment. It is a node because messages refer to it. */
    abstract static class Target extends Node {
        Target(int line) {
            super(line);
        }

        void prepare(Frame frame) {}

        abstract void assign(Frame frame, Object value);

        @Override
        final Object eval(Frame frame) {
            return null;
        }
    }

    /** A local variable as a target. */
    static final class LocalTarget extends Target {
        private final int slot;
        private final boolean cell;

        LocalTarget(int slot, boolean cell, int line) {
            super(line);
            this.slot = slot;
            this.cell = cell;
        }

        @Override
        void assign(Frame frame, Object value) {
            if (cell) {
                ((Cell) frame.registers[slot]).value = value;
            } else {
                frame.registers[slot] = value;
            }
        }
    }

    /** A variable of an outer function as a target. */
    static final class UpvalueTarget extends Target {
        private final int index;

        UpvalueTarget(int index, int line) {
            super(line);
            this.index = index;
        }

        @Override
        void assign(Frame frame, Object value) {
            frame.closure.upvalues[index].value = value;
        }
    }

    /** A field or a global variable as a target. */
    static final class IndexTarget extends Target {
        private final Node object;
        private final Node key;
        private final int base;

        /** @param base two registers, for the object and the key */
        IndexTarget(Node object, Node key, int base, int line) {
            super(line);
            this.object = object;
            this.key = key;
            this.base = base;
        }

        @Override
        void prepare(Frame frame) {
            frame.registers[base] = object == null ? frame.closure.globals : object.eval(frame);
            frame.registers[base + 1] = key.eval(frame);
        }

        @Override
        void assign(Frame frame, Object value) {
            Metamethods.setIndex(frame.lua, frame.registers[base], frame.registers[base + 1], value, frame.at(this));
        }

        @Override
        String operandDescription(int operand) {
            return object == null ? null : object.description();
        }
    }

    /** Returns values. */
    static final class Return extends StatementNode {
        private final Node[] values;
        private final int base;

        Return(Node[] values, int base) {
            this.values = values;
            this.base = base;
        }

        @Override
        int execute(Frame frame) {
            Object[] registers = frame.registers;
            int last = values.length - 1;
            for (int i = 0; i < last; i++) {
                registers[base + i] = values[i].eval(frame);
            }
            Object more = last < 0 ? frame.lua.results() : values[last].evalMulti(frame);
            if (last > 0) {
                more = several(frame.lua, registers, last, more);
            }
            frame.result = more;
            return RETURN;
        }

        private Object several(LuaState lua, Object[] registers, int fixed, Object more) {
            if (more instanceof Results several) {
                Object[] all = new Object[fixed + several.count()];
                System.arraycopy(registers, base, all, 0, fixed);
                several.copyTo(all, fixed);
                return lua.results(all, 0, all.length);
            }
            registers[base + fixed] = more;
            return lua.results(registers, base, fixed + 1);
        }
    }

    /** Returns one value. */
    static final class ReturnOne extends StatementNode {
        private final Node value;

        ReturnOne(Node value) {
            this.value = value;
        }

        @Override
        int execute(Frame frame) {
            frame.result = value.eval(frame);
            return RETURN;
        }
    }
}
