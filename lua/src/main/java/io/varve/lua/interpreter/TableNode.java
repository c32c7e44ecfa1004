package io.varve.lua.interpreter;

import io.varve.lua.LuaTable;
import io.varve.lua.Metamethods;
import io.varve.lua.Results;

/** A table constructor. Immutable. Items of the list are set in groups of 50, as C Lua does. */
final class TableNode extends Node {
    /** Items that are evaluated before they are set. */
    static final int GROUP = 50;
    /** Keys; null for items of the list. */
    private final Node[] keys;
    private final Node[] values;
    private final int base;
    private final int arrayRoom;
    private final int nodeRoom;

    /** @param base the register of the table; those of the items of a group follow */
    TableNode(Node[] keys, Node[] values, int base, int line) {
        super(line);
        this.keys = keys;
        this.values = values;
        this.base = base;
        int items = 0;
        for (Node key : keys) {
            items += key == null ? 1 : 0;
        }
        boolean open = isOpen(values.length - 1);
        arrayRoom = rounded(open ? items - 1 : items);
        nodeRoom = rounded(values.length - items);
    }

    private boolean isOpen(int index) {
        return index >= 0 && index == values.length - 1 && keys[index] == null && values[index].isMulti();
    }

    /** C Lua's instruction has few bits for sizes, so it rounds them up. */
    private static int rounded(int size) {
        int mantissa = size;
        int exponent = 0;
        while (mantissa >= 16) {
            mantissa = (mantissa + 1) >> 1;
            exponent++;
        }
        return mantissa << exponent;
    }

    @Override
    Object eval(Frame frame) {
        Object[] registers = frame.registers;
        LuaTable table = frame.lua.newTable(arrayRoom, nodeRoom);
        registers[base] = table;
        int set = 0;
        int waiting = 0;
        for (int i = 0; i < values.length; i++) {
            if (keys[i] != null) {
                Object key = keys[i].eval(frame);
                registers[base + waiting + 1] = key;
                Object value = values[i].eval(frame);
                Metamethods.setIndex(frame.lua, table, key, value, frame.at(this));
            } else {
                if (waiting == GROUP) {
                    set = flush(table, registers, waiting, set);
                    waiting = 0;
                }
                if (isOpen(i)) {
                    setOpen(frame, table, waiting, set, values[i].evalMulti(frame));
                    return table;
                }
                registers[base + ++waiting] = values[i].eval(frame);
            }
        }
        flush(table, registers, waiting, set);
        return table;
    }

    private int flush(LuaTable table, Object[] registers, int waiting, int set) {
        table.ensureArray(set + waiting);
        for (int i = waiting; i > 0; i--) {
            table.put(set + i, registers[base + i]);
        }
        return set + waiting;
    }

    private void setOpen(Frame frame, LuaTable table, int waiting, int set, Object last) {
        if (!(last instanceof Results several)) {
            frame.registers[base + waiting + 1] = last;
            flush(table, frame.registers, waiting + 1, set);
            return;
        }
        table.ensureArray(set + waiting + several.count());
        for (int i = several.count(); i > 0; i--) {
            table.put(set + waiting + i, several.get(i));
        }
        flush(table, frame.registers, waiting, set);
    }
}
