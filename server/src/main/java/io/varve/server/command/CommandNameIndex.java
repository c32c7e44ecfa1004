package io.varve.server.command;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.server.acl.CommandNames;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * The numbering of command names for ACL rules: the table's commands, then the Redis commands that Varve lacks.
 * Immutable.
 */
public final class CommandNameIndex implements CommandNames {
    private static final int[] NONE = {};

    private final CommandTable table;
    private final List<UnimplementedCommands.Named> others;
    private final Map<String, Integer> otherNumbers = new HashMap<>();
    private final Map<Integer, int[]> subcommands = new HashMap<>();

    public CommandNameIndex(CommandTable table) {
        this.table = table;
        others = UnimplementedCommands.without(table);
        Map<Integer, List<Integer>> children = new HashMap<>();
        for (CommandSpec spec : table.all()) {
            CommandSpec[] ofTable = spec.subcommandArray();
            for (CommandSpec child : ofTable) {
                children.computeIfAbsent(spec.id(), _ -> new ArrayList<>()).add(child.id());
            }
        }
        for (int i = 0; i < others.size(); i++) {
            otherNumbers.put(others.get(i).name(), table.all().size() + i);
        }
        for (UnimplementedCommands.Named other : others) {
            if (!other.parent().isEmpty()) {
                children.computeIfAbsent(find(other.parent()), _ -> new ArrayList<>()).add(find(other.name()));
            }
        }
        children.forEach((parent, ids) -> subcommands.put(parent, ids.stream().mapToInt(id -> id).toArray()));
    }

    @Override
    public int count() {
        return table.all().size() + others.size();
    }

    @Override
    public int find(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        CommandSpec spec = table.findOriginal(lower);
        return spec == null ? otherNumbers.getOrDefault(lower, -1) : spec.id();
    }

    @Override
    public String name(int command) {
        return isOther(command) ? other(command).name() : table.all().get(command).fullName();
    }

    @Override
    public boolean isSubcommand(int command) {
        return isOther(command) ? !other(command).parent().isEmpty() : table.all().get(command).parent() != null;
    }

    @Override
    public int[] subcommands(int command) {
        return subcommands.getOrDefault(command, NONE);
    }

    @Override
    public List<String> categories(int command) {
        return isOther(command)
                ? other(command).categories()
                : table.all().get(command).categories().stream().map(category -> category.substring(1)).toList();
    }

    private boolean isOther(int command) {
        return command >= table.all().size();
    }

    private UnimplementedCommands.Named other(int command) {
        return others.get(command - table.all().size());
    }

    /** Finds a command or subcommand by its arguments, as the dispatcher does. */
    public static @Nullable CommandSpec find(CommandTable table, Arguments arguments) {
        CommandSpec spec = table.find(arguments.argumentAddress(0), arguments.argumentLength(0));
        if (spec != null && spec.hasSubcommands() && arguments.argumentCount() > 1) {
            return spec.subcommand(arguments.argumentAddress(1), arguments.argumentLength(1));
        }
        return spec;
    }
}
