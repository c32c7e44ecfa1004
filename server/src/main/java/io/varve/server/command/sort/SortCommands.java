package io.varve.server.command.sort;

import io.varve.memory.item.CacheFullException;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.resp.NoBufferException;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** SORT and SORT_RO. Immutable: static handlers. */
public final class SortCommands {
    private static final String COMPLEXITY = "O(N+M*log(M)) where N is the number of elements and M the number"
            + " returned";

    private SortCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(sort("sort", "1.0.0",
                "Sorts the elements of a list, a set or a sorted set; can store the result")
                .unknownKeys("OW update").keyFinder(SortRequest::findKeys).flags(WRITE, DENYOOM)
                .traits(CommandTrait.ALL_OR_NOTHING)
                .handler(context -> run(context, true)));
        table.add(sort("sort_ro", "7.0.0", "Returns the sorted elements of a list, a set or a sorted set")
                .keyFinder((_, keys) -> keys.add(1)).flags(READONLY).handler(context -> run(context, false)));
    }

    private static CommandBuilder sort(String name, String since, String summary) {
        return CommandBuilder.named(name).arity(-2).key(1).access("RO access").unknownKeys("RO access")
                .usesOtherKeys(SortRequest::usesOtherKeys).categories("@set", "@sortedset", "@list", "@dangerous")
                .group("generic").since(since).complexity(COMPLEXITY).summary(summary);
    }

    private static void run(CommandContext context, boolean mayStore) {
        SortRequest request = SortRequest.read(context, mayStore);
        if (request == null) {
            return;
        }
        context.changesNothing(request.storeArgument() == 0);
        SortExecutor sortExecutor = SortExecutor.of(context);
        try {
            sortExecutor.run(context, request);
        } catch (CacheFullException full) {
            context.discardOtherKeys();
            throw sortExecutor.inAll(full);
        } catch (NoBufferException none) {
            context.discardOtherKeys();
            throw none;
        } finally {
            sortExecutor.release();
        }
    }
}
