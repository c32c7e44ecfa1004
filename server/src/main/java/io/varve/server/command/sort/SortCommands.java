package io.varve.server.command.sort;

import io.varve.memory.item.CacheFullException;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.resp.NoBufferException;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/** SORT and SORT_RO. Immutable: static handlers. */
public final class SortCommands {
    private static final String COMPLEXITY = "O(N+M*log(M)) in the elements and those answered";

    private SortCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(sort("sort", "1.0.0",
                "Answers or stores the elements of a list, a set or a sorted set in another order")
                .unknownKeys("OW update").keyFinder(SortRequest::findKeys).flags(WRITE, DENYOOM).allOrNothing()
                .handler(call -> run(call, true)));
        table.add(sort("sort_ro", "7.0.0", "Answers the elements of a list, a set or a sorted set in another order")
                .keyFinder((_, keys) -> keys.add(1)).flags(READONLY).handler(call -> run(call, false)));
    }

    private static CommandBuilder sort(String name, String since, String summary) {
        return CommandSpec.named(name).arity(-2).key(1).access("RO access").unknownKeys("RO access")
                .usesOtherKeys(SortRequest::usesOtherKeys).categories("@set", "@sortedset", "@list", "@dangerous")
                .group("generic").since(since).complexity(COMPLEXITY).summary(summary);
    }

    private static void run(Invocation call, boolean mayStore) {
        SortRequest request = SortRequest.read(call, mayStore);
        if (request == null) {
            return;
        }
        call.changesNothing(request.storeArgument() == 0);
        Sorting sorting = Sorting.of(call);
        try {
            sorting.run(call, request);
        } catch (CacheFullException full) {
            call.dropOtherKeys();
            throw sorting.inAll(full);
        } catch (NoBufferException none) {
            call.dropOtherKeys();
            throw none;
        } finally {
            sorting.release();
        }
    }
}
