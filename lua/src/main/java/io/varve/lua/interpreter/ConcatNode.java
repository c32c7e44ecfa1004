package io.varve.lua.interpreter;

import io.varve.lua.LuaNumber;
import io.varve.lua.LuaString;
import io.varve.lua.Metamethods;

/** {@code a .. b .. c}: all operands are evaluated, and then concatenated from the right. Immutable. */
final class ConcatNode extends Node {
    private final Node[] operands;
    private final int base;
    /** Which operand is the left one of the concatenation that fails. Set in copies only. */
    private final int failing;

    /** @param base registers for the operands */
    ConcatNode(Node[] operands, int base, int line) {
        this(operands, base, operands.length - 2, line);
    }

    private ConcatNode(Node[] operands, int base, int failing, int line) {
        super(line);
        this.operands = operands;
        this.base = base;
        this.failing = failing;
    }

    @Override
    Object eval(Frame frame) {
        Object[] registers = frame.registers;
        long length = 0;
        boolean numbers = false;
        boolean others = false;
        for (int i = 0; i < operands.length; i++) {
            Object value = operands[i].eval(frame);
            registers[base + i] = value;
            if (value instanceof LuaString string) {
                length += string.length();
            } else if (value instanceof Double) {
                numbers = true;
            } else {
                others = true;
            }
        }
        if (others) {
            return slow(frame);
        }
        return join(frame, numbers ? length + convert(registers) : length);
    }

    /** Converts numbers to strings, and returns their length. */
    private long convert(Object[] registers) {
        long length = 0;
        for (int i = base; i < base + operands.length; i++) {
            if (registers[i] instanceof Double number) {
                LuaString text = LuaString.of(LuaNumber.toString(number));
                length += text.length();
                registers[i] = text;
            }
        }
        return length;
    }

    private LuaString join(Frame frame, long length) {
        frame.site = this;
        frame.lua.chargeString(length);
        byte[] joined = new byte[Math.toIntExact(length)];
        int at = 0;
        for (int i = 0; i < operands.length; i++) {
            byte[] bytes = ((LuaString) frame.registers[base + i]).array();
            System.arraycopy(bytes, 0, joined, at, bytes.length);
            at += bytes.length;
        }
        return LuaString.of(joined);
    }

    private Object slow(Frame frame) {
        Object[] registers = frame.registers;
        Object value = registers[base + operands.length - 1];
        for (int i = operands.length - 2; i >= 0; i--) {
            frame.site = new ConcatNode(operands, base, i, line);
            value = Metamethods.concat(frame.lua, registers[base + i], value, frame);
            registers[base + i] = value;
        }
        return value;
    }

    @Override
    String operandDescription(int operand) {
        return operand == 0
                ? operands[failing].description()
                : failing == operands.length - 2 ? operands[failing + 1].description() : null;
    }
}
