package io.varve.lua.interpreter;

import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.Metamethods;
import io.varve.lua.Results;

/** Blocks, conditions and loops. Stateless. */
final class BlockNodes {
    private BlockNodes() {}

    /** Statements in sequence. */
    static final class Sequence extends StatementNode {
        private final StatementNode[] statements;

        Sequence(StatementNode[] statements) {
            this.statements = statements;
        }

        @Override
        int execute(Frame frame) {
            for (StatementNode statement : statements) {
                int signal = statement.execute(frame);
                if (signal != NORMAL) {
                    return signal;
                }
            }
            return NORMAL;
        }
    }

    /** {@code break}. */
    static final class Break extends StatementNode {
        @Override
        int execute(Frame frame) {
            return BREAK;
        }
    }

    /** {@code if}. */
    static final class If extends StatementNode {
        private final Node condition;
        private final StatementNode then;
        private final StatementNode otherwise;

        /** @param otherwise null if there is nothing else */
        If(Node condition, StatementNode then, StatementNode otherwise) {
            this.condition = condition;
            this.then = then;
            this.otherwise = otherwise;
        }

        @Override
        int execute(Frame frame) {
            if (condition.test(frame)) {
                return then.execute(frame);
            }
            return otherwise == null ? NORMAL : otherwise.execute(frame);
        }
    }

    /** {@code if} with {@code elseif}. */
    static final class IfElse extends StatementNode {
        private final Node[] conditions;
        private final StatementNode[] bodies;
        private final StatementNode otherwise;

        /** @param otherwise null if there is nothing else */
        IfElse(Node[] conditions, StatementNode[] bodies, StatementNode otherwise) {
            this.conditions = conditions;
            this.bodies = bodies;
            this.otherwise = otherwise;
        }

        @Override
        int execute(Frame frame) {
            for (int i = 0; i < conditions.length; i++) {
                if (conditions[i].test(frame)) {
                    return bodies[i].execute(frame);
                }
            }
            return otherwise == null ? NORMAL : otherwise.execute(frame);
        }
    }

    /** {@code while}. */
    static final class While extends StatementNode {
        private final Node condition;
        private final StatementNode body;

        While(Node condition, StatementNode body) {
            this.condition = condition;
            this.body = body;
        }

        @Override
        int execute(Frame frame) {
            while (condition.test(frame)) {
                int signal = body.execute(frame);
                if (signal != NORMAL) {
                    return signal == BREAK ? NORMAL : signal;
                }
                frame.lua.tick();
            }
            return NORMAL;
        }
    }

    /** {@code repeat}. */
    static final class Repeat extends StatementNode {
        private final StatementNode body;
        private final Node condition;

        Repeat(StatementNode body, Node condition) {
            this.body = body;
            this.condition = condition;
        }

        @Override
        int execute(Frame frame) {
            do {
                int signal = body.execute(frame);
                if (signal != NORMAL) {
                    return signal == BREAK ? NORMAL : signal;
                }
                frame.lua.tick();
            } while (!condition.test(frame));
            return NORMAL;
        }
    }

    /** {@code for i = first, limit, step}. It is a node because messages refer to it. */
    static final class NumericFor extends Node {
        /** Two integers below this are added without overflow. */
        private static final double SMALL = 0x1p30;

        private final int slot;
        private final boolean cell;
        private final Node first;
        private final Node limit;
        private final Node step;
        private final StatementNode body;

        /** @param slot the variable's register, after three of the loop */
        NumericFor(int slot, boolean cell, Node first, Node limit, Node step, StatementNode body, int line) {
            super(line);
            this.slot = slot;
            this.cell = cell;
            this.first = first;
            this.limit = limit;
            this.step = step;
            this.body = body;
        }

        int execute(Frame frame) {
            Object[] registers = frame.registers;
            registers[slot - 3] = first.eval(frame);
            registers[slot - 2] = limit.eval(frame);
            registers[slot - 1] = step == null ? LuaNumber.box(1) : step.eval(frame);
            double start = number(frame, registers[slot - 3], "initial value");
            double end = number(frame, registers[slot - 2], "limit");
            double increment = number(frame, registers[slot - 1], "step");
            if (isSmallInteger(start) && isSmallInteger(increment) && increment != 0 && Math.abs(end) < SMALL) {
                int last = (int) (increment > 0 ? Math.floor(end) : Math.ceil(end));
                return loopOverIntegers(frame, (int) start, last, (int) increment);
            }
            return loop(frame, start, end, increment);
        }

        private static boolean isSmallInteger(double value) {
            return Math.abs(value) < SMALL && value == (int) value;
        }

        /** Runs the loop with an int counter, which is cheaper to box. */
        private int loopOverIntegers(Frame frame, int start, int last, int increment) {
            for (int index = start; increment > 0 ? index <= last : index >= last; index += increment) {
                int signal = iterate(frame, LuaNumber.box(index));
                if (signal != StatementNode.NORMAL) {
                    return signal == StatementNode.BREAK ? StatementNode.NORMAL : signal;
                }
            }
            return StatementNode.NORMAL;
        }

        private int loop(Frame frame, double start, double end, double increment) {
            double index = start - increment;
            while (true) {
                index += increment;
                if (increment > 0 ? !(index <= end) : !(end <= index)) {
                    return StatementNode.NORMAL;
                }
                int signal = iterate(frame, LuaNumber.box(index));
                if (signal != StatementNode.NORMAL) {
                    return signal == StatementNode.BREAK ? StatementNode.NORMAL : signal;
                }
            }
        }

        private int iterate(Frame frame, Double index) {
            frame.registers[slot] = cell ? new Cell(index) : index;
            int signal = body.execute(frame);
            if (signal == StatementNode.NORMAL) {
                frame.lua.tick();
            }
            return signal;
        }

        private double number(Frame frame, Object value, String what) {
            Double number = LuaNumber.toNumber(value);
            if (number == null) {
                throw frame.at(this).runtimeError("'for' " + what + " must be a number");
            }
            return number;
        }

        @Override
        Object eval(Frame frame) {
            return null;
        }
    }

    /** Runs a numeric loop as a statement. */
    static final class NumericForStatement extends StatementNode {
        private final NumericFor loop;

        NumericForStatement(NumericFor loop) {
            this.loop = loop;
        }

        @Override
        int execute(Frame frame) {
            return loop.execute(frame);
        }
    }

    /** {@code for a, b in values}. It is a node because messages refer to it. */
    static final class GenericFor extends Node {
        private final int base;
        private final boolean[] cells;
        private final Node[] values;
        private final StatementNode body;

        /** @param base the registers of function, state and control; those of the variables follow, and two more */
        GenericFor(int base, boolean[] cells, Node[] values, StatementNode body, int line) {
            super(line);
            this.base = base;
            this.cells = cells;
            this.values = values;
            this.body = body;
        }

        int execute(Frame frame) {
            AssignmentNodes.evaluate(frame, values, base, 3);
            LuaState lua = frame.lua;
            Object[] registers = frame.registers;
            int first = base + 3;
            while (true) {
                Object function = registers[base];
                registers[first] = registers[base + 1];
                registers[first + 1] = registers[base + 2];
                frame.outgoing(this, first, 2);
                Object returned = function instanceof LuaFunction callable
                        ? callable.call(lua, frame)
                        : Metamethods.callOther(lua, function, frame, 0);
                spread(registers, first, returned);
                Object control = registers[first];
                if (control == null) {
                    return StatementNode.NORMAL;
                }
                registers[base + 2] = control;
                for (int i = 0; i < cells.length; i++) {
                    if (cells[i]) {
                        registers[first + i] = new Cell(registers[first + i]);
                    }
                }
                int signal = body.execute(frame);
                if (signal != StatementNode.NORMAL) {
                    return signal == StatementNode.BREAK ? StatementNode.NORMAL : signal;
                }
                lua.tick();
            }
        }

        private void spread(Object[] registers, int first, Object returned) {
            if (returned instanceof Results several) {
                for (int i = 0; i < cells.length; i++) {
                    registers[first + i] = several.get(i + 1);
                }
            } else {
                registers[first] = returned;
                for (int i = 1; i < cells.length; i++) {
                    registers[first + i] = null;
                }
            }
        }

        @Override
        Object eval(Frame frame) {
            return null;
        }
    }

    /** Runs a generic loop as a statement. */
    static final class GenericForStatement extends StatementNode {
        private final GenericFor loop;

        GenericForStatement(GenericFor loop) {
            this.loop = loop;
        }

        @Override
        int execute(Frame frame) {
            return loop.execute(frame);
        }
    }
}
