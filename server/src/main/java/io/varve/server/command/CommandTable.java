package io.varve.server.command;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.varve.memory.offheap.Memory;
import io.varve.server.config.ConfigException;
import org.jspecify.annotations.Nullable;

/**
 * All commands, found by the bytes of their names in any case. Immutable.
 *
 * <p>An open hash table over the length and the letters, four times as large as there are names, so that a lookup is
 * one comparison nearly always; nothing is allocated.
 */
public final class CommandTable {
    /** The bit in which the cases of a letter differ. */
    private static final int CASE = 0x20;

    /** By the names that clients use, and by those that they are born with. */
    private final Map<String, CommandSpec> byName;
    private final Map<String, CommandSpec> byOriginalName;
    private final List<CommandSpec> all;
    private final List<CommandSpec> visible;
    private final @Nullable CommandSpec[] slots;
    private final byte[][] slotNames;
    private final int mask;

    private CommandTable(Map<String, CommandSpec> byOriginalName, Map<String, CommandSpec> byName) {
        this.byOriginalName = Collections.unmodifiableMap(byOriginalName);
        this.byName = Collections.unmodifiableMap(byName);
        int size = Integer.highestOneBit(Math.max(16, byName.size() * 4)) * 2;
        slots = new CommandSpec[size];
        slotNames = new byte[size][];
        mask = size - 1;
        byName.forEach(this::place);
        List<CommandSpec> specs = new ArrayList<>();
        byOriginalName.values().forEach(spec -> number(spec, specs));
        all = List.copyOf(specs);
        visible = all.stream().filter(spec -> byName.containsValue(spec.parent() == null ? spec : spec.parent()))
                .toList();
    }

    private void place(String name, CommandSpec spec) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        int hash = bytes.length;
        for (byte b : bytes) {
            // As find reads it, which makes another character of an underscore.
            hash = mix(hash, b | CASE);
        }
        int slot = fold(hash) & mask;
        while (slots[slot] != null) {
            slot = slot + 1 & mask;
        }
        slots[slot] = spec;
        slotNames[slot] = bytes;
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
            hash = mix(hash, Memory.getByte(address + i) | CASE);
        }
        for (int slot = fold(hash) & mask;; slot = slot + 1 & mask) {
            CommandSpec spec = slots[slot];
            if (spec == null || equal(slotNames[slot], address, length)) {
                return spec;
            }
        }
    }

    /** The command of this name in lower case; {@code config|get} names a subcommand. Null if there is none. */
    public @Nullable CommandSpec find(String name) {
        return find(byName, name);
    }

    /** The same by the name that a command is born with, whatever clients have to call it. */
    @Nullable
    CommandSpec findOriginal(String name) {
        return find(byOriginalName, name);
    }

    private static @Nullable CommandSpec find(Map<String, CommandSpec> byName, String name) {
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
    public List<CommandSpec> all() {
        return all;
    }

    /** The same without those that no client can call. */
    public List<CommandSpec> visible() {
        return visible;
    }

    /** Gathers the families. Confined to the thread that builds. */
    public static final class Builder {
        private final Map<String, CommandSpec> byName = new LinkedHashMap<>();

        private Builder() {}

        /** Adds a command, built from its description. */
        public Builder add(CommandBuilder description) {
            CommandSpec spec = description.build();
            if (byName.put(spec.name(), spec) != null) {
                throw new IllegalStateException("Two commands are called " + spec.name());
            }
            return this;
        }

        public CommandTable build() {
            return build(Map.of());
        }

        /**
         * A table in which clients call some commands otherwise.
         *
         * @param renames from a command's name to the other one, which is empty if no client is to call it
         * @throws ConfigException if there is no such command, or another has the name already
         */
        public CommandTable build(Map<String, String> renames) {
            Map<String, CommandSpec> renamed = new LinkedHashMap<>(byName);
            renames.forEach((from, to) -> {
                CommandSpec spec = renamed.remove(from);
                if (spec == null && UnimplementedCommands.isCommand(from)) {
                    // Files made for Redis take names away that nobody can call here anyway.
                    return;
                }
                if (spec == null) {
                    throw new ConfigException("rename-command " + from + " " + to + ": there is no such command");
                }
                String name = lowerCase(to);
                if (!name.isEmpty() && renamed.putIfAbsent(name, spec) != null) {
                    throw new ConfigException("rename-command " + from + " " + to
                            + ": there is a command of this name already");
                }
            });
            return new CommandTable(new LinkedHashMap<>(byName), renamed);
        }

        /** As names are compared: letters of ASCII alone have a case. */
        private static String lowerCase(String name) {
            StringBuilder lower = new StringBuilder(name);
            for (int i = 0; i < name.length(); i++) {
                char c = name.charAt(i);
                lower.setCharAt(i, c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c);
            }
            return lower.toString();
        }
    }
}
