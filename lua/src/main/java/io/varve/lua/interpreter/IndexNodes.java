package io.varve.lua.interpreter;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.Metamethods;

/** Reads of fields. Stateless. */
final class IndexNodes {
    private IndexNodes() {}

    /** {@code object.name}. */
    static final class Field extends Node {
        private final Node object;
        private final LuaString key;

        Field(Node object, LuaString key, int line) {
            super(line);
            this.object = object;
            this.key = key;
        }

        @Override
        Object eval(Frame frame) {
            Object target = object.eval(frame);
            if (target instanceof LuaTable table) {
                Object value = table.get(key);
                if (value != null || table.metatable() == null) {
                    return value;
                }
            }
            return Metamethods.index(frame.lua, target, key, frame.at(this));
        }

        @Override
        String description() {
            return "field '" + key + "'";
        }

        @Override
        String operandDescription(int operand) {
            return object.description();
        }

        @Override
        String calledName() {
            return key.toString();
        }
    }

    /** {@code object[key]}. */
    static final class Index extends Node {
        private final Node object;
        private final Node key;
        private final int temporary;

        /** @param temporary a free register */
        Index(Node object, Node key, int temporary, int line) {
            super(line);
            this.object = object;
            this.key = key;
            this.temporary = temporary;
        }

        @Override
        Object eval(Frame frame) {
            Object target = object.eval(frame);
            if (!key.isSimple()) {
                frame.registers[temporary] = target;
            }
            double number = key.evalNumber(frame);
            if (!Double.isNaN(number)) {
                if (target instanceof LuaTable table) {
                    Object value = table.get(number);
                    if (value != null || table.metatable() == null) {
                        return value;
                    }
                }
                return Metamethods.index(frame.lua, target, LuaNumber.box(number), frame.at(this));
            }
            Object other = frame.takeOther(number);
            if (target instanceof LuaTable table) {
                Object value = table.get(other);
                if (value != null || table.metatable() == null) {
                    return value;
                }
            }
            return Metamethods.index(frame.lua, target, other, frame.at(this));
        }

        @Override
        String description() {
            return "field '?'";
        }

        @Override
        String operandDescription(int operand) {
            return object.description();
        }

        @Override
        String calledName() {
            return "?";
        }
    }
}
