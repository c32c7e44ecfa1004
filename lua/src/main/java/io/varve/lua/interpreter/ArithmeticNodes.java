package io.varve.lua.interpreter;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.Metamethods;
import io.varve.lua.Metamethods.Arithmetic;

/** Arithmetic, and the length operator. Stateless. Intermediate results of numbers are not boxed. */
final class ArithmeticNodes {
    private ArithmeticNodes() {}

    /** The part that operators with two operands share. */
    abstract static class Operation extends Node {
        final Node left;
        final Node right;
        private final Arithmetic kind;
        private final int temporary;

        Operation(Arithmetic kind, Node left, Node right, int temporary, int line) {
            super(line);
            this.kind = kind;
            this.left = left;
            this.right = right;
            this.temporary = temporary;
        }

        /** The result when the left operand yielded NaN. */
        final Object afterLeft(Frame frame, double yielded) {
            Object first = frame.takeOther(yielded);
            frame.registers[temporary] = first;
            Object second = right.eval(frame);
            return slow(frame, first, second);
        }

        /** The result when the right operand yielded NaN. */
        final Object afterRight(Frame frame, double first, double yielded) {
            return slow(frame, first, frame.takeOther(yielded));
        }

        private Object slow(Frame frame, Object first, Object second) {
            if (first instanceof Double a && second instanceof Double b) {
                return LuaNumber.box(kind.apply(a, b));
            }
            return Metamethods.arithmetic(frame.lua, kind, first, second, frame.at(this));
        }

        /** An object as {@link Node#evalNumber} yields it. */
        static double number(Frame frame, Object value) {
            return value instanceof Double number ? number : frame.other(value);
        }

        @Override
        final String operandDescription(int operand) {
            return operand == 0 ? left.description() : right.description();
        }
    }

    /** {@code left + right}. */
    static final class Add extends Operation {
        Add(Node left, Node right, int temporary, int line) {
            super(Arithmetic.ADD, left, right, temporary, line);
        }

        @Override
        Object eval(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return afterLeft(frame, a);
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.box(a + b) : afterRight(frame, a, b);
        }

        @Override
        double evalNumber(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return number(frame, afterLeft(frame, a));
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? a + b : number(frame, afterRight(frame, a, b));
        }
    }

    /** {@code left - right}. */
    static final class Subtract extends Operation {
        Subtract(Node left, Node right, int temporary, int line) {
            super(Arithmetic.SUBTRACT, left, right, temporary, line);
        }

        @Override
        Object eval(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return afterLeft(frame, a);
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.box(a - b) : afterRight(frame, a, b);
        }

        @Override
        double evalNumber(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return number(frame, afterLeft(frame, a));
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? a - b : number(frame, afterRight(frame, a, b));
        }
    }

    /** {@code left * right}. */
    static final class Multiply extends Operation {
        Multiply(Node left, Node right, int temporary, int line) {
            super(Arithmetic.MULTIPLY, left, right, temporary, line);
        }

        @Override
        Object eval(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return afterLeft(frame, a);
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.box(a * b) : afterRight(frame, a, b);
        }

        @Override
        double evalNumber(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return number(frame, afterLeft(frame, a));
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? a * b : number(frame, afterRight(frame, a, b));
        }
    }

    /** {@code left / right}. */
    static final class Divide extends Operation {
        Divide(Node left, Node right, int temporary, int line) {
            super(Arithmetic.DIVIDE, left, right, temporary, line);
        }

        @Override
        Object eval(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return afterLeft(frame, a);
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.box(a / b) : afterRight(frame, a, b);
        }

        @Override
        double evalNumber(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return number(frame, afterLeft(frame, a));
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? a / b : number(frame, afterRight(frame, a, b));
        }
    }

    /** {@code left % right}. */
    static final class Modulo extends Operation {
        Modulo(Node left, Node right, int temporary, int line) {
            super(Arithmetic.MODULO, left, right, temporary, line);
        }

        @Override
        Object eval(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return afterLeft(frame, a);
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.box(a - Math.floor(a / b) * b) : afterRight(frame, a, b);
        }

        @Override
        double evalNumber(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return number(frame, afterLeft(frame, a));
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? a - Math.floor(a / b) * b : number(frame, afterRight(frame, a, b));
        }
    }

    /** {@code left ^ right}. */
    static final class Power extends Operation {
        Power(Node left, Node right, int temporary, int line) {
            super(Arithmetic.POWER, left, right, temporary, line);
        }

        @Override
        Object eval(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return afterLeft(frame, a);
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.box(LuaNumber.power(a, b)) : afterRight(frame, a, b);
        }

        @Override
        double evalNumber(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                return number(frame, afterLeft(frame, a));
            }
            double b = right.evalNumber(frame);
            return !Double.isNaN(b) ? LuaNumber.power(a, b) : number(frame, afterRight(frame, a, b));
        }
    }

    /** {@code -operand}. */
    static final class Negate extends Node {
        private final Node operand;

        Negate(Node operand, int line) {
            super(line);
            this.operand = operand;
        }

        @Override
        Object eval(Frame frame) {
            double value = operand.evalNumber(frame);
            if (!Double.isNaN(value)) {
                return LuaNumber.box(-value);
            }
            Object other = frame.takeOther(value);
            return other instanceof Double number
                    ? LuaNumber.box(-number)
                    : Metamethods.negate(frame.lua, other, frame.at(this));
        }

        @Override
        String operandDescription(int index) {
            return operand.description();
        }
    }

    /** {@code #operand}. */
    static final class Length extends Node {
        private final Node operand;

        Length(Node operand, int line) {
            super(line);
            this.operand = operand;
        }

        @Override
        Object eval(Frame frame) {
            Object value = operand.eval(frame);
            if (value instanceof LuaTable table) {
                return LuaNumber.box(table.length());
            }
            if (value instanceof LuaString string) {
                return LuaNumber.box(string.length());
            }
            return Metamethods.length(frame.lua, value, frame.at(this));
        }

        @Override
        double evalNumber(Frame frame) {
            Object value = operand.eval(frame);
            return value instanceof LuaTable table
                    ? table.length()
                    : value instanceof LuaString string
                            ? string.length()
                            : Operation.number(frame, Metamethods.length(frame.lua, value, frame.at(this)));
        }

        @Override
        String operandDescription(int index) {
            return operand.description();
        }
    }
}
