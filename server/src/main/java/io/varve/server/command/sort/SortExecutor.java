package io.varve.server.command.sort;

import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.list.ListResult;
import io.varve.server.command.list.ListValue;
import io.varve.server.command.list.Lists;
import io.varve.server.command.set.SetValue;
import io.varve.server.command.set.Sets;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.value.MemberList;
import io.varve.server.command.value.TextMemory;
import io.varve.server.events.KeyEvent;
import io.varve.server.resp.DoubleReader;

/**
 * Executes SORT: collects the elements and their sort values, sorts them, and builds the result. Confined to its event
 * loop; reused from command to command, each of which releases the memory.
 *
 * <p>The shards of all used keys are locked; if BY or GET lead to other keys, all shards are. A SORT of many elements
 * copies what it needs and unlocks the shards from time to time. It is then an iteration like SCAN, and the values of
 * BY and GET may change between the parts. A SORT that stores its result, or runs within a transaction, never unlocks.
 */
final class SortExecutor {
    private static final CommandScratch<SortExecutor> SCRATCH = CommandScratch.madeBy(_ -> new SortExecutor());

    /** Number of lookups before the shards are unlocked for others: some hundred microseconds. */
    private static final int LOOKUPS_AT_ONCE = 1 << 10;
    /** Maximum number of elements and lookups for which a SORT sees one consistent state. */
    private static final long MAX_CONSISTENT_LOOKUPS = 1 << 13;
    private static final int NO_TEXT = -1;
    private static final String NO_NUMBER = "ERR One or more scores can't be converted into double";

    private final Item item = new Item();
    /** The elements. The hash is the length of the text that determines the order, the note its address. */
    private final MemberList elements = new MemberList();
    private final MemberList results = new MemberList();
    private final TextMemory texts = new TextMemory();
    private final SortLookup lookup = new SortLookup();
    private final ListResult result = new ListResult();
    private boolean copies;
    /** Whether the elements have an order of their own. */
    private boolean ordered;
    private int lookups;
    private long storedBytes;

    /** The instance of a context. */
    static SortExecutor of(CommandContext context) {
        return SCRATCH.of(context);
    }

    void run(CommandContext context, SortRequest request) {
        copies = false;
        lookups = 0;
        storedBytes = 0;
        if (!collect(context, request)) {
            return;
        }
        if (!request.unsorted() && !sort(context, request)) {
            context.reply().error(NO_NUMBER);
            return;
        }
        // An unsorted list or sorted set was already cut to the requested range.
        long from = request.unsorted() && ordered ? 0 : request.from(elements.count());
        long to = request.unsorted() && ordered ? elements.count() : request.to(elements.count());
        if (request.storeArgument() > 0) {
            store(context, request, (int) from, (int) to);
        } else {
            reply(context, request, (int) from, (int) to);
        }
        context.requireAllFetched();
    }

    /**
     * The memory to free after an allocation failed. The command releases everything before it runs again, and probably
     * had not allocated all it needs. A stored result takes about as much as the sorted elements.
     */
    CacheFullException inAll(CacheFullException full) {
        return full
                .inAll(2 * (full.bytes() + elements.heldBytes() + results.heldBytes() + texts.heldBytes()
                        + storedBytes));
    }

    void release() {
        elements.release();
        results.release();
        texts.release();
        lookup.release();
    }

    // --- elements

    /** @return false after an error was replied */
    private boolean collect(CommandContext context, SortRequest request) {
        Key key = context.keyAt(0);
        ordered = true;
        // The view of the item's type does the lookup that counts.
        boolean there = context.session().peek(key, item);
        storedBytes = there && request.storeArgument() > 0 ? context.session().memoryUsage(item) : 0;
        switch (there ? item.type() : ItemType.STRING) {
            case LIST -> collectList(context, request, key);
            case SORTED_SET -> collectSortedSet(context, request, key);
            case SET -> collectSet(context, request, key);
            default -> {
                if (context.session().find(key, item)) {
                    context.wrongType();
                    return false;
                }
            }
        }
        return true;
    }

    private void begin(CommandContext context, SortRequest request, long size, long wanted) {
        long all = size * (1 + (request.sortsByPattern() ? 1 : 0)) + wanted * request.getCount();
        copies = all > MAX_CONSISTENT_LOOKUPS && request.storeArgument() == 0 && !context.isInTransaction();
        elements.expect(context.cache(), wanted);
    }

    private void collectList(CommandContext context, SortRequest request, Key key) {
        ListValue list = Lists.of(context).first();
        list.find(key);
        long size = list.length();
        long from = request.unsorted() ? request.from(size) : 0;
        long to = request.unsorted() ? request.to(size) : size;
        begin(context, request, size, to - from);
        boolean backwards = request.unsorted() && request.descending();
        if (from < to) {
            list.seek(backwards ? size - 1 - from : from);
        }
        for (long left = to - from; left > 0; left--) {
            add(context, list.elementAddress(), list.elementLength(), copies);
            boolean more = backwards ? list.previous() : list.next();
            assert more || left == 1;
        }
    }

    private void collectSortedSet(CommandContext context, SortRequest request, Key key) {
        SortedSetValue set = SortedSets.of(context).set();
        set.open(context, key);
        long size = set.size();
        long from = request.unsorted() ? request.from(size) : 0;
        long to = request.unsorted() ? request.to(size) : size;
        begin(context, request, size, to - from);
        boolean backwards = request.unsorted() && request.descending();
        boolean more = from < to && set.seek(backwards ? size - 1 - from : from);
        for (long left = to - from; left > 0 && more; left--) {
            add(context, set.memberAddress(), set.memberLength(), copies);
            more = backwards ? set.previous() : set.next();
        }
    }

    private void collectSet(CommandContext context, SortRequest request, Key key) {
        SetValue set = Sets.of(context).first();
        set.open(context, key);
        // As in Redis, a script gets the members in an order that does not depend on how they are stored.
        if (request.unsorted() && (request.storeArgument() > 0 || context.isInScript())) {
            request.sortByElements();
        }
        ordered = false;
        begin(context, request, set.size(), set.size());
        for (boolean more = set.first(); more; more = set.next()) {
            // Integer members have no stored text.
            add(context, set.memberAddress(), set.memberLength(), copies || set.hasIntegers());
        }
    }

    private void add(CommandContext context, long address, int length, boolean copied) {
        long at = copied ? texts.add(context.cache(), address, length) : address;
        elements.add(context.cache(), at, length, NO_TEXT, 0);
    }

    // --- order

    /** @return false if a sort value is no number but must be one */
    private boolean sort(CommandContext context, SortRequest request) {
        boolean numbers = true;
        for (int i = 0; i < elements.count(); i++) {
            if (!request.sortsByPattern()) {
                numbers &= request.alphabetic() || weigh(i, elements.address(i), elements.length(i));
            } else if (lookUp(context, request.byArgument(), i)) {
                numbers &= request.alphabetic()
                        ? decideBy(context, i, lookup.address(), lookup.length())
                        : weigh(i, lookup.address(), lookup.length());
            }
        }
        context.requireAllFetched();
        if (numbers) {
            MemberList.Order order = !request.sortsByPattern() || !request.alphabetic()
                    ? request.descending() ? MemberList.Order.SCORE_DESCENDING : MemberList.Order.SCORE
                    : request.descending() ? MemberList.Order.TEXT_DESCENDING : MemberList.Order.TEXT;
            if (copies) {
                context.withLocksReleased(() -> elements.sort(context.cache(), order));
            } else {
                elements.sort(context.cache(), order);
            }
        }
        return numbers;
    }

    private boolean weigh(int element, long address, int length) {
        double weight = DoubleReader.parseWeight(address, length);
        elements.score(element, weight);
        return !Double.isNaN(weight);
    }

    private boolean decideBy(CommandContext context, int element, long address, int length) {
        elements.hash(element, length);
        elements.note(element, copies ? texts.add(context.cache(), address, length) : address);
        return true;
    }

    private boolean lookUp(CommandContext context, int argument, int element) {
        if (copies && ++lookups % LOOKUPS_AT_ONCE == 0) {
            context.withLocksReleased(() -> {});
        }
        return lookup.find(context, argument, elements.address(element), elements.length(element));
    }

    // --- result

    private void reply(CommandContext context, SortRequest request, int from, int to) {
        int gets = request.getCount();
        context.reply().array((to - from) * Math.max(1L, gets));
        for (int place = from; place < to; place++) {
            int element = elements.inOrder(place);
            if (gets == 0) {
                context.reply().bulk(elements.address(element), elements.length(element));
            }
            for (int i = 0; i < gets; i++) {
                int argument = request.getArgument(i);
                if (lookUp(context, argument, element)) {
                    lookup.reply(context, argument);
                } else {
                    context.reply().nil();
                }
            }
        }
    }

    private void store(CommandContext context, SortRequest request, int from, int to) {
        int gets = request.getCount();
        results.expect(context.cache(), (to - from) * Math.max(1L, gets));
        for (int place = from; place < to; place++) {
            int element = elements.inOrder(place);
            if (gets == 0) {
                results.add(context.cache(), elements.address(element), elements.length(element), 0, 0);
            }
            for (int i = 0; i < gets; i++) {
                boolean there = lookUp(context, request.getArgument(i), element);
                results.add(context.cache(), there ? lookup.address() : elements.address(element),
                        there ? lookup.length() : 0, 0, 0);
            }
        }
        context.requireAllFetched();
        result.store(context, context.key(request.storeArgument()), results, KeyEvent.SORTSTORE);
        context.reply().integer(results.count());
    }
}
