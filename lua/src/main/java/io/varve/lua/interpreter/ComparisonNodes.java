package io.varve.lua.interpreter;

import io.varve.lua.LuaState;
import io.varve.lua.Metamethods;

/** Comparisons and logical operators. Stateless. */
@SuppressWarnings("ReferenceEquality") // Equality of Lua values begins with identity.
final class ComparisonNodes {
    private ComparisonNodes() {}

    /** {@code left == right}, or its opposite. */
    static final class Equal extends Node {
        private final Node left;
        private final Node right;
        private final int temporary;
        private final boolean wanted;

        Equal(Node left, Node right, int temporary, boolean wanted, int line) {
            super(line);
            this.left = left;
            this.right = right;
            this.temporary = temporary;
            this.wanted = wanted;
        }

        @Override
        boolean test(Frame frame) {
            Object a = left.eval(frame);
            if (!right.isSimple()) {
                frame.registers[temporary] = a;
            }
            Object b = right.eval(frame);
            if (a == b && !(a instanceof Double)) {
                return wanted;
            }
            frame.site = this;
            return Metamethods.isEqual(frame.lua, a, b, frame) == wanted;
        }

        @Override
        Object eval(Frame frame) {
            return test(frame);
        }
    }

    /** {@code left == nil}, with false, true or a string: no metamethod is called. Or its opposite. */
    static final class EqualConstant extends Node {
        private final Node left;
        private final Object constant;
        private final boolean wanted;

        EqualConstant(Node left, Object constant, boolean wanted, int line) {
            super(line);
            this.left = left;
            this.constant = constant;
            this.wanted = wanted;
        }

        @Override
        boolean test(Frame frame) {
            Object value = left.eval(frame);
            return (value == constant || value != null && value.equals(constant)) == wanted;
        }

        @Override
        Object eval(Frame frame) {
            return test(frame);
        }
    }

    /** {@code left == number}, or its opposite. */
    static final class EqualNumber extends Node {
        private final Node left;
        private final double number;
        private final boolean wanted;

        EqualNumber(Node left, double number, boolean wanted, int line) {
            super(line);
            this.left = left;
            this.number = number;
            this.wanted = wanted;
        }

        @Override
        boolean test(Frame frame) {
            return (left.eval(frame) instanceof Double value && value == number) == wanted;
        }

        @Override
        Object eval(Frame frame) {
            return test(frame);
        }
    }

    /** {@code left < right}; with exchanged operands {@code left > right}. */
    static final class Less extends Node {
        private final Node left;
        private final Node right;
        private final int temporary;
        private final boolean exchanged;

        /** @param exchanged the operands are evaluated from left to right, and then right < left is asked */
        Less(Node left, Node right, int temporary, boolean exchanged, int line) {
            super(line);
            this.left = left;
            this.right = right;
            this.temporary = temporary;
            this.exchanged = exchanged;
        }

        @Override
        boolean test(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                Object first = frame.takeOther(a);
                frame.registers[temporary] = first;
                return slow(frame, first, right.eval(frame));
            }
            double b = right.evalNumber(frame);
            if (Double.isNaN(b)) {
                return slow(frame, a, frame.takeOther(b));
            }
            return exchanged ? b < a : a < b;
        }

        private boolean slow(Frame frame, Object first, Object second) {
            frame.site = this;
            return exchanged
                    ? Metamethods.lessThan(frame.lua, second, first, frame)
                    : Metamethods.lessThan(frame.lua, first, second, frame);
        }

        @Override
        Object eval(Frame frame) {
            return test(frame);
        }
    }

    /** {@code left <= right}; with exchanged operands {@code left >= right}. */
    static final class LessEqual extends Node {
        private final Node left;
        private final Node right;
        private final int temporary;
        private final boolean exchanged;

        /** @param exchanged the operands are evaluated from left to right, and then right <= left is asked */
        LessEqual(Node left, Node right, int temporary, boolean exchanged, int line) {
            super(line);
            this.left = left;
            this.right = right;
            this.temporary = temporary;
            this.exchanged = exchanged;
        }

        @Override
        boolean test(Frame frame) {
            double a = left.evalNumber(frame);
            if (Double.isNaN(a)) {
                Object first = frame.takeOther(a);
                frame.registers[temporary] = first;
                return slow(frame, first, right.eval(frame));
            }
            double b = right.evalNumber(frame);
            if (Double.isNaN(b)) {
                return slow(frame, a, frame.takeOther(b));
            }
            return exchanged ? b <= a : a <= b;
        }

        private boolean slow(Frame frame, Object first, Object second) {
            frame.site = this;
            return exchanged
                    ? Metamethods.lessEqual(frame.lua, second, first, frame)
                    : Metamethods.lessEqual(frame.lua, first, second, frame);
        }

        @Override
        Object eval(Frame frame) {
            return test(frame);
        }
    }

    /** {@code not operand}. */
    static final class Not extends Node {
        private final Node operand;

        Not(Node operand, int line) {
            super(line);
            this.operand = operand;
        }

        @Override
        boolean test(Frame frame) {
            return !operand.test(frame);
        }

        @Override
        Object eval(Frame frame) {
            return test(frame);
        }
    }

    /** {@code left and right}. */
    static final class And extends Node {
        final Node left;
        final Node right;

        And(Node left, Node right, int line) {
            super(line);
            this.left = left;
            this.right = right;
        }

        @Override
        boolean test(Frame frame) {
            return left.test(frame) && right.test(frame);
        }

        @Override
        Object eval(Frame frame) {
            Object value = left.eval(frame);
            return LuaState.isTrue(value) ? right.eval(frame) : value;
        }
    }

    /** {@code left or right}. */
    static final class Or extends Node {
        final Node left;
        final Node right;

        Or(Node left, Node right, int line) {
            super(line);
            this.left = left;
            this.right = right;
        }

        @Override
        boolean test(Frame frame) {
            return left.test(frame) || right.test(frame);
        }

        @Override
        Object eval(Frame frame) {
            Object value = left.eval(frame);
            return LuaState.isTrue(value) ? value : right.eval(frame);
        }
    }
}
