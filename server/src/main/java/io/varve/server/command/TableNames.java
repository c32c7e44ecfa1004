package io.varve.server.command;

import java.util.List;
import java.util.Locale;

import io.varve.server.acl.CommandNames;
import org.jspecify.annotations.Nullable;

/** The command table as rules of users see it. Immutable. */
public record TableNames(CommandTable table) implements CommandNames {
    @Override
    public int count() {
        return table.all().size();
    }

    @Override
    public int find(String name) {
        CommandSpec spec = table.findOriginal(name.toLowerCase(Locale.ROOT));
        return spec == null ? -1 : spec.id();
    }

    @Override
    public String name(int command) {
        return table.all().get(command).fullName();
    }

    @Override
    public boolean isSubcommand(int command) {
        return table.all().get(command).parent() != null;
    }

    @Override
    public int[] subcommands(int command) {
        CommandSpec[] children = table.all().get(command).subcommandArray();
        int[] ids = new int[children.length];
        for (int i = 0; i < children.length; i++) {
            ids[i] = children[i].id();
        }
        return ids;
    }

    @Override
    public List<String> categories(int command) {
        return table.all().get(command).categories().stream().map(category -> category.substring(1)).toList();
    }

    /** As a command of the table finds it. */
    public static @Nullable CommandSpec find(CommandTable table, Arguments arguments) {
        CommandSpec spec = table.find(arguments.argumentAddress(0), arguments.argumentLength(0));
        if (spec != null && spec.hasSubcommands() && arguments.argumentCount() > 1) {
            return CommandTable.findSubcommand(spec, arguments.argumentAddress(1), arguments.argumentLength(1));
        }
        return spec;
    }
}
