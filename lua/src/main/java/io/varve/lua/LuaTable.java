package io.varve.lua;

import java.util.Arrays;

/**
 * A table. Confined to the thread of its state. It has C Lua's layout: an array, and a hash part whose nodes are
 * chained within it. Sizes and positions follow the same rules, so that the length of a table with holes and the order
 * of its keys are those of C Lua, except for keys that C Lua places by their address.
 */
@SuppressWarnings("ReferenceEquality") // Constants of programs are shared, so equal strings are mostly identical.
public final class LuaTable {
    private static final Object[] NONE = new Object[0];
    private static final int NO_NODES_MASK = 0;
    private static final int MAX_BITS = 26;
    private static final int SLOT_BYTES = 20;
    private static final int NODE_BYTES = 28;
    private static final int TABLE_BYTES = 64;
    /** A free node has this key, so that lookups need no check for a table without nodes. */
    private static final Object FREE = new Object();
    private static final Object[] DUMMY_KEYS = {FREE};
    private static final Object[] DUMMY_VALUES = {null};
    private static final int[] DUMMY_NEXT = {-1};

    private final LuaMeter meter;
    private Object[] array = NONE;
    private Object[] keys = DUMMY_KEYS;
    private Object[] values = DUMMY_VALUES;
    private int[] next = DUMMY_NEXT;
    private int mask = NO_NODES_MASK;
    /** All nodes from this one on are taken or have been. */
    private int lastFree;
    private LuaTable metatable;
    /** Bit i: the metatable event with ordinal i is known to be absent here; a set with a string key clears it. */
    int absentEvents;
    /** The last memory measure that counted this table. */
    int measure;
    private boolean readOnly;

    LuaTable(LuaMeter meter, int arrayCapacity, int nodeCapacity) {
        this.meter = meter;
        meter.charge(TABLE_BYTES);
        if (arrayCapacity > 0 || nodeCapacity > 0) {
            resize(arrayCapacity, nodeCapacity);
        }
    }

    public LuaTable metatable() {
        return metatable;
    }

    public void metatable(LuaTable table) {
        metatable = table;
    }

    public boolean isReadOnly() {
        return readOnly;
    }

    /** A read-only table refuses {@link #set}, but not {@link #put}. */
    public void readOnly(boolean value) {
        readOnly = value;
    }

    // ---- reads ------------------------------------------------------------------------------------------------------

    /** The value of any key, without metamethods; null if there is none. */
    public Object get(Object key) {
        if (key instanceof LuaString string) {
            return get(string);
        }
        if (key instanceof Double number) {
            return get(number.doubleValue());
        }
        if (key == null) {
            return null;
        }
        int node = findOther(key);
        return node < 0 ? null : values[node];
    }

    /** The value of a string key. */
    public Object get(LuaString key) {
        int hash = key.hashCode();
        int node = hash & mask;
        do {
            Object candidate = keys[node];
            if (candidate == key) {
                return values[node];
            }
            if (candidate instanceof LuaString string && string.hashCode() == hash && string.equals(key)) {
                return values[node];
            }
            node = next[node];
        } while (node >= 0);
        return null;
    }

    /** The value of a number key. */
    public Object get(double key) {
        int integer = (int) key;
        if (integer == key && integer >= 1 && integer <= array.length) {
            return array[integer - 1];
        }
        int node = findNumber(key);
        return node < 0 ? null : values[node];
    }

    /** The value of an integer key. */
    public Object get(int key) {
        if (key >= 1 && key <= array.length) {
            return array[key - 1];
        }
        int node = findNumber(key);
        return node < 0 ? null : values[node];
    }

    /** C Lua's length: a border, by its own search. */
    public int length() {
        int size = array.length;
        if (size > 0 && array[size - 1] == null) {
            int low = 0;
            int high = size;
            while (high - low > 1) {
                int middle = (low + high) >>> 1;
                if (array[middle - 1] == null) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            return low;
        }
        return keys == DUMMY_KEYS ? size : unboundSearch(size);
    }

    private int unboundSearch(int from) {
        int low = from;
        int high = from + 1;
        while (get(high) != null) {
            low = high;
            if (high > Integer.MAX_VALUE / 2) {
                int index = 1;
                while (get(index) != null) {
                    index++;
                }
                return index - 1;
            }
            high *= 2;
        }
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if (get(middle) == null) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return low;
    }

    // ---- iteration --------------------------------------------------------------------------------------------------

    /**
     * The position of the next entry after a position, or -1. Positions start at 0, and {@link #keyAt} and
     * {@link #valueAt} read an entry. Assigning to existing entries keeps positions valid.
     */
    public int nextPosition(int position) {
        int size = array.length;
        for (int i = position; i < size; i++) {
            if (array[i] != null) {
                return i + 1;
            }
        }
        for (int i = Math.max(position - size, 0); i < values.length; i++) {
            if (values[i] != null) {
                return size + i + 1;
            }
        }
        return -1;
    }

    /** The key of an entry. */
    public Object keyAt(int position) {
        return position <= array.length ? LuaNumber.box(position) : keys[position - array.length - 1];
    }

    /** The value of an entry. */
    public Object valueAt(int position) {
        return position <= array.length ? array[position - 1] : values[position - array.length - 1];
    }

    /** The position of a key, 0 for nil, or -1 if the table has never had it: then {@code next} refuses it. */
    public int positionOf(Object key) {
        if (key == null) {
            return 0;
        }
        if (key instanceof Double number) {
            double value = number;
            int integer = (int) value;
            if (integer == value && integer >= 1 && integer <= array.length) {
                return integer;
            }
        }
        int node = find(key);
        return node < 0 ? -1 : array.length + node + 1;
    }

    // ---- writes -----------------------------------------------------------------------------------------------------

    /** Sets a key that is neither nil nor NaN, without metamethods. */
    public void set(Object key, Object value) {
        checkWritable();
        put(key, value);
    }

    /** Sets an integer key. */
    public void set(int key, Object value) {
        checkWritable();
        put(key, value);
    }

    private void checkWritable() {
        if (readOnly) {
            throw new LuaError("Attempt to modify a readonly table");
        }
    }

    /** Sets a key, also in a read-only table. */
    public void put(Object key, Object value) {
        if (key instanceof Double number) {
            put(number.doubleValue(), value);
        } else if (key instanceof LuaString string) {
            put(string, value);
        } else if (key == null) {
            throw new LuaError("table index is nil");
        } else {
            int node = findOther(key);
            if (node >= 0) {
                values[node] = value;
            } else if (value != null) {
                insert(key, value);
            } else {
                touch(key);
            }
        }
    }

    /** Sets a string key, also in a read-only table. */
    public void put(LuaString key, Object value) {
        absentEvents = 0;
        int node = findString(key);
        if (node >= 0) {
            values[node] = value;
        } else if (value != null) {
            insert(key, value);
        } else {
            touch(key);
        }
    }

    /** Sets a number key, also in a read-only table. */
    public void put(double key, Object value) {
        int integer = (int) key;
        if (integer == key) {
            put(integer, value);
            return;
        }
        int node = findNumber(key);
        if (node >= 0) {
            values[node] = value;
        } else if (Double.isNaN(key)) {
            throw new LuaError("table index is NaN");
        } else if (value != null) {
            insert(LuaNumber.box(key), value);
        } else {
            touch(LuaNumber.box(key));
        }
    }

    /** Sets an integer key, also in a read-only table. */
    public void put(int key, Object value) {
        if (key >= 1 && key <= array.length) {
            array[key - 1] = value;
            return;
        }
        int node = findNumber(key);
        if (node >= 0) {
            values[node] = value;
        } else if (value != null) {
            insert(LuaNumber.box(key), value);
        } else {
            touch(LuaNumber.box(key));
        }
    }

    /** C Lua makes a node even to assign nil, which may resize the table. */
    private void touch(Object key) {
        insert(key, null);
    }

    /** Sets the size of the array to at least a number of slots, as C Lua does for a constructor's items. */
    public void ensureArray(int size) {
        if (size > array.length) {
            resize(size, keys == DUMMY_KEYS ? 0 : keys.length);
        }
    }

    // ---- nodes ------------------------------------------------------------------------------------------------------

    private int find(Object key) {
        return key instanceof LuaString string
                ? findString(string)
                : key instanceof Double number ? findNumber(number) : findOther(key);
    }

    private int findString(LuaString key) {
        int hash = key.hashCode();
        int node = hash & mask;
        do {
            Object candidate = keys[node];
            if (candidate == key
                    || candidate instanceof LuaString string && string.hashCode() == hash && string.equals(key)) {
                return node;
            }
            node = next[node];
        } while (node >= 0);
        return -1;
    }

    private int findNumber(double key) {
        if (keys == DUMMY_KEYS) {
            return -1;
        }
        int node = numberPosition(key);
        do {
            if (keys[node] instanceof Double number && number == key) {
                return node;
            }
            node = next[node];
        } while (node >= 0);
        return -1;
    }

    private int findOther(Object key) {
        int node = mainPosition(key);
        do {
            if (keys[node] == key) {
                return node;
            }
            node = next[node];
        } while (node >= 0);
        return -1;
    }

    private int numberPosition(double key) {
        if (key == 0) {
            return 0;
        }
        long bits = Double.doubleToRawLongBits(key);
        return Integer.remainderUnsigned((int) bits + (int) (bits >>> 32), mask | 1);
    }

    private int mainPosition(Object key) {
        if (key instanceof LuaString string) {
            return string.hashCode() & mask;
        }
        if (key instanceof Double number) {
            return numberPosition(number);
        }
        if (key instanceof Boolean truth) {
            return truth ? 1 & mask : 0;
        }
        return Integer.remainderUnsigned(System.identityHashCode(key), mask | 1);
    }

    /** Inserts a key that is not here. A node in another node's place moves, so each chain starts in its place. */
    private void insert(Object key, Object value) {
        int main = mainPosition(key);
        if (values[main] != null || keys == DUMMY_KEYS) {
            int free = takeFree();
            if (free < 0) {
                rehash(key);
                put(key, value);
                return;
            }
            int other = mainPosition(keys[main]);
            if (other != main) {
                int previous = other;
                while (next[previous] != main) {
                    previous = next[previous];
                }
                next[previous] = free;
                keys[free] = keys[main];
                values[free] = values[main];
                next[free] = next[main];
                next[main] = -1;
                values[main] = null;
            } else {
                next[free] = next[main];
                next[main] = free;
                main = free;
            }
        }
        keys[main] = key;
        values[main] = value;
    }

    private int takeFree() {
        if (keys == DUMMY_KEYS) {
            return -1;
        }
        while (lastFree > 0) {
            lastFree--;
            if (keys[lastFree] == FREE) {
                return lastFree;
            }
        }
        return -1;
    }

    // ---- sizes ------------------------------------------------------------------------------------------------------

    private void rehash(Object key) {
        int[] counts = new int[MAX_BITS + 2];
        int integers = countArray(counts);
        int total = integers;
        for (int i = keys.length - 1; i >= 0; i--) {
            if (values[i] != null) {
                integers += countInteger(keys[i], counts);
                total++;
            }
        }
        integers += countInteger(key, counts);
        total++;
        int inArray = 0;
        int size = 0;
        int below = 0;
        for (int i = 0, power = 1; power / 2 < integers; i++, power *= 2) {
            if (counts[i] > 0) {
                below += counts[i];
                if (below > power / 2) {
                    size = power;
                    inArray = below;
                }
            }
            if (below == integers) {
                break;
            }
        }
        resize(size, total - inArray);
    }

    /** Counts integer keys of the array: those in (2^(i-1), 2^i] in counts[i]. */
    private int countArray(int[] counts) {
        int used = 0;
        int index = 1;
        for (int bit = 0, limit = 1; bit <= MAX_BITS + 1; bit++, limit *= 2) {
            int here = 0;
            int last = Math.min(limit, array.length);
            if (index > last && limit > array.length) {
                break;
            }
            for (; index <= last; index++) {
                if (array[index - 1] != null) {
                    here++;
                }
            }
            counts[bit] += here;
            used += here;
        }
        return used;
    }

    private static int countInteger(Object key, int[] counts) {
        if (key instanceof Double number) {
            int integer = (int) (double) number;
            if (integer == number && integer > 0 && integer <= 1 << MAX_BITS) {
                counts[ceilLog2(integer)]++;
                return 1;
            }
        }
        return 0;
    }

    private static int ceilLog2(int value) {
        return 32 - Integer.numberOfLeadingZeros(value - 1);
    }

    private void resize(int arraySize, int nodeCount) {
        int bits = nodeCount == 0 ? 0 : ceilLog2(nodeCount);
        if (bits > MAX_BITS || arraySize > 1 << MAX_BITS) {
            throw new LuaError("table overflow");
        }
        int nodes = nodeCount == 0 ? 0 : 1 << bits;
        meter.charge((long) arraySize * SLOT_BYTES + (long) nodes * NODE_BYTES);
        Object[] oldArray = array;
        Object[] oldKeys = keys;
        Object[] oldValues = values;
        array = arraySize == oldArray.length ? oldArray : Arrays.copyOf(oldArray, arraySize);
        if (nodes == 0) {
            keys = DUMMY_KEYS;
            values = DUMMY_VALUES;
            next = DUMMY_NEXT;
            mask = NO_NODES_MASK;
            lastFree = 0;
        } else {
            keys = new Object[nodes];
            Arrays.fill(keys, FREE);
            values = new Object[nodes];
            next = new int[nodes];
            Arrays.fill(next, -1);
            mask = nodes - 1;
            lastFree = nodes;
        }
        for (int i = arraySize; i < oldArray.length; i++) {
            if (oldArray[i] != null) {
                put(i + 1, oldArray[i]);
            }
        }
        for (int i = oldKeys.length - 1; i >= 0; i--) {
            if (oldValues[i] != null) {
                put(oldKeys[i], oldValues[i]);
            }
        }
    }

    // ---- memory -----------------------------------------------------------------------------------------------------

    /** The bytes of the table without its keys and values. */
    long size() {
        return TABLE_BYTES + (long) array.length * SLOT_BYTES
                + (keys == DUMMY_KEYS ? 0 : (long) keys.length * NODE_BYTES);
    }

    void addReferences(MemoryMeasure measure) {
        if (metatable != null) {
            measure.add(metatable);
        }
        for (Object value : array) {
            measure.add(value);
        }
        for (int i = 0; i < keys.length; i++) {
            if (values[i] != null) {
                measure.add(keys[i]);
                measure.add(values[i]);
            }
        }
    }
}
