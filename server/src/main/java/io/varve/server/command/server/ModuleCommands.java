package io.varve.server.command.server;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandTable;

import static io.varve.server.command.spec.CommandFlag.ADMIN;
import static io.varve.server.command.spec.CommandFlag.NOSCRIPT;

/** MODULE, as replied by a server without modules. Immutable: static handlers. */
final class ModuleCommands {
    private ModuleCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(CommandBuilder.named("module").group("server").arity(-2).since("4.0.0")
                .complexity("Depends on subcommand.").summary("A container for module commands; Varve has no modules")
                .subcommand(CommandBuilder.named("list").group("server").arity(2)
                        .flags(ADMIN, NOSCRIPT).since("4.0.0")
                        .tips("nondeterministic_output_order")
                        .summary("Lists the loaded modules, of which there are none")
                        .handler(context -> context.reply().array(0))));
    }
}
