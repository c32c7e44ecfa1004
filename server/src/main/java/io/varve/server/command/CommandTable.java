package io.varve.server.command;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * All commands, found by the bytes of their names in any case. Immutable.
 *
 * <p>An open hash table over the length and the letters, four times as large as there are names, so that a lookup is
 * one comparison nearly always; nothing is allocated.
 */
public final class CommandTable {
    private final Map<String, CommandSpec> byName;
    private final List<CommandSpec> all;
    private final @Nullable CommandSpec[] slots;
    private final int mask;

    private CommandTable(Map<String, CommandSpec> byName) {
        this.byName = Collections.unmodifiableMap(byName);
        int size = Integer.highestOneBit(Math.max(16, byName.size() * 4)) * 2;
        slots = new CommandSpec[size];
        mask = size - 1;
        List<CommandSpec> specs = new ArrayList<>();
        for (CommandSpec spec : byName.values()) {
            number(spec, specs);
            byte[] name = spec.nameBytes();
            int hash = name.length;
            for (byte b : name) {
                hash = mix(hash, b);
            }
            int slot = fold(hash) & mask;
            while (slots[slot] != null) {
                slot = slot + 1 & mask;
            }
            slots[slot] = spec;
        }
        all = List.copyOf(specs);
    }

    private static void number(CommandSpec spec, List<CommandSpec> specs) {
        spec.id(specs.size());
        specs.add(spec);
        for (CommandSpec child : spec.subcommandArray()) {
            number(child, specs);
        }
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The command of this name, or null. */
    public @Nullable CommandSpec find(long address, int length) {
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = mix(hash, Memory.getByte(address + i) | 0x20);
        }
        for (int slot = fold(hash) & mask;; slot = slot + 1 & mask) {
            CommandSpec spec = slots[slot];
            if (spec == null || equal(spec.nameBytes(), address, length)) {
                return spec;
            }
        }
    }

    /** The command of this name in lower case; {@code config|get} names a subcommand. Null if there is none. */
    public @Nullable CommandSpec find(String name) {
        int bar = name.indexOf('|');
        if (bar < 0) {
            return byName.get(name);
        }
        CommandSpec parent = byName.get(name.substring(0, bar));
        return parent == null ? null : parent.subcommands().get(name.substring(bar + 1));
    }

    static @Nullable CommandSpec findSubcommand(CommandSpec parent, long address, int length) {
        for (CommandSpec child : parent.subcommandArray()) {
            if (equal(child.nameBytes(), address, length)) {
                return child;
            }
        }
        return null;
    }

    private static int mix(int hash, int b) {
        return (hash ^ b) * 0x01000193;
    }

    private static int fold(int hash) {
        return hash ^ hash >>> 15;
    }

    private static boolean equal(byte[] lowerCaseName, long address, int length) {
        if (lowerCaseName.length != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            byte b = Memory.getByte(address + i);
            if (lowerCaseName[i] != (b >= 'A' && b <= 'Z' ? b + 32 : b)) {
                return false;
            }
        }
        return true;
    }

    /** Commands without their subcommands. */
    public Collection<CommandSpec> commands() {
        return byName.values();
    }

    public int size() {
        return byName.size();
    }

    /** Commands and subcommands, at the index of their {@link CommandSpec#id}. */
    List<CommandSpec> all() {
        return all;
    }

    /** Gathers the families. Confined to the thread that builds. */
    public static final class Builder {
        private final Map<String, CommandSpec> byName = new LinkedHashMap<>();

        private Builder() {}

        /** Adds a command, built from its description. */
        public Builder add(CommandSpec.Builder description) {
            CommandSpec spec = description.build();
            if (byName.put(spec.name(), spec) != null) {
                throw new IllegalStateException("Two commands are called " + spec.name());
            }
            return this;
        }

        public CommandTable build() {
            return new CommandTable(new LinkedHashMap<>(byName));
        }
    }
}
