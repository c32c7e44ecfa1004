package io.varve.server.command;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.spec.CommandLookup;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.config.ConfigException;
import org.jspecify.annotations.Nullable;

/**
 * All commands, found by the bytes of their names in any case. Immutable.
 *
 * <p>It is an open hash table over the length and the letters, with at least four slots per name. A lookup nearly
 * always takes one comparison and allocates nothing.
 */
public final class CommandTable implements CommandLookup {
    /** The bit that distinguishes upper and lower case of a letter. */
    private static final int CASE = 0x20;

    /** By the names that clients use, and by the original names. */
    private final Map<String, CommandSpec> byName;
    private final Map<String, CommandSpec> byOriginalName;
    private final List<CommandSpec> all;
    private final List<CommandSpec> visible;
    private final @Nullable CommandSpec[] slots;
    private final byte[][] slotNames;
    /** At the index of {@link CommandSpec#id}; null for a command that exists only through its subcommands. */
    private final @Nullable Handler[] handlers;
    private final int mask;

    private CommandTable(Map<String, CommandSpec> byOriginalName, Map<String, CommandSpec> byName,
            Map<CommandSpec, Handler> handlerOf) {
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
        handlers = new Handler[all.size()];
        handlerOf.forEach((spec, handler) -> handlers[spec.id()] = handler);
        visible = all.stream().filter(spec -> byName.containsValue(spec.parent() == null ? spec : spec.parent()))
                .toList();
    }

    private void place(String name, CommandSpec spec) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        int hash = bytes.length;
        for (byte b : bytes) {
            // As find reads it, which changes an underscore to another character.
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

    /** The handler of a command that {@link CommandSpec#isRunnable}. */
    public Handler handler(CommandSpec spec) {
        return Objects.requireNonNull(handlers[spec.id()]);
    }

    @Override
    public @Nullable CommandSpec find(long address, int length) {
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = mix(hash, Memory.getByte(address + i) | CASE);
        }
        for (int slot = fold(hash) & mask;; slot = slot + 1 & mask) {
            CommandSpec spec = slots[slot];
            if (spec == null || CommandSpec.isName(slotNames[slot], address, length)) {
                return spec;
            }
        }
    }

    /** The command of this lower-case name; {@code config|get} names a subcommand. Null if there is none. */
    public @Nullable CommandSpec find(String name) {
        return find(byName, name);
    }

    /** The command of this original name, whatever name clients have to use. */
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

    private static int mix(int hash, int b) {
        return (hash ^ b) * 0x01000193;
    }

    private static int fold(int hash) {
        return hash ^ hash >>> 15;
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

    /** The commands and subcommands that clients can call. */
    public List<CommandSpec> visible() {
        return visible;
    }

    /** Collects the commands of all families. Confined to the thread that builds. */
    public static final class Builder {
        private final Map<String, CommandSpec> byName = new LinkedHashMap<>();
        private final Map<CommandSpec, Handler> handlers = new IdentityHashMap<>();

        private Builder() {}

        public Builder add(CommandBuilder description) {
            CommandSpec spec = description.build(handlers);
            if (byName.put(spec.name(), spec) != null) {
                throw new IllegalStateException("Two commands have the name " + spec.name());
            }
            return this;
        }

        public CommandTable build() {
            return build(Map.of());
        }

        /**
         * Builds a table in which some commands have other names.
         *
         * @param renames the new name of each renamed command; empty if the command is disabled
         * @throws ConfigException if there is no such command, or the new name is taken
         */
        public CommandTable build(Map<String, String> renames) {
            Map<String, CommandSpec> renamed = new LinkedHashMap<>(byName);
            renames.forEach((from, to) -> {
                CommandSpec spec = renamed.remove(from);
                if (spec == null && UnimplementedCommands.isCommand(from)) {
                    // Redis configuration files may disable commands that Varve does not implement.
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
            return new CommandTable(new LinkedHashMap<>(byName), renamed, handlers);
        }

        /** As names are compared: only ASCII letters have a case. */
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
