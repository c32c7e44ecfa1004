package io.varve.server.command.geo;

import io.varve.server.command.CommandContext;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.geo.GeoArea;
import io.varve.server.geo.GeoHash;
import org.jspecify.annotations.Nullable;

/** The parsed arguments of a geo search. Confined to one command. */
final class GeoRequest {
    /** The search commands, by the positions of their arguments. */
    enum Form {
        SEARCH(1, 2), SEARCH_STORE(2, 3), RADIUS(1, 6), RADIUS_READ_ONLY(1, 6), RADIUS_BY_MEMBER(1,
                5), RADIUS_BY_MEMBER_READ_ONLY(1, 5);

        private final int source;
        private final int firstOption;

        Form(int source, int firstOption) {
            this.source = source;
            this.firstOption = firstOption;
        }

        /** The argument with the key that is searched. */
        int source() {
            return source;
        }

        private boolean isSearch() {
            return this == SEARCH || this == SEARCH_STORE;
        }

        private boolean mayStore() {
            return this == RADIUS || this == RADIUS_BY_MEMBER;
        }
    }

    /** The area of a search without a set: the result is empty, so any area will do. */
    private static final GeoArea NOWHERE = GeoArea.circle(0, 0, 0, 1);

    private final Form form;
    private GeoArea area = NOWHERE;
    private boolean withDistance;
    private boolean withHash;
    private boolean withCoordinates;
    private boolean any;
    private boolean sorted;
    private boolean descending;
    private boolean storesDistance;
    private long count;
    private int storeArgument;
    private boolean fromMember;
    private boolean fromPoint;
    private double longitude;
    private double latitude;
    private boolean byRadius;
    private boolean byBox;
    private double radius;
    private double width;
    private double height;
    private double unit = 1;

    GeoRequest(Form form) {
        this.form = form;
        storeArgument = form == Form.SEARCH_STORE ? 1 : 0;
    }

    /**
     * Reads the arguments.
     *
     * @param present whether the set exists; if not, members are not looked up
     * @return false after an error was replied
     */
    boolean read(CommandContext context, SortedSetValue set, boolean present) {
        if (!readFixed(context, set, present)) {
            return false;
        }
        for (int i = form.firstOption; i < context.argumentCount();) {
            int taken = readOption(context, i, set, present);
            if (taken == 0) {
                return false;
            }
            i += taken;
        }
        String wrong = wrong(context);
        if (wrong != null) {
            context.reply().error(wrong);
            return false;
        }
        if (count > 0 && !any && !sorted) {
            // COUNT without ANY means the nearest places.
            sorted = true;
        }
        area = byBox
                ? GeoArea.rectangle(longitude, latitude, width, height, unit)
                : GeoArea.circle(longitude, latitude, radius, unit);
        return true;
    }

    private boolean readFixed(CommandContext context, SortedSetValue set, boolean present) {
        return switch (form) {
            case SEARCH, SEARCH_STORE -> true;
            case RADIUS, RADIUS_READ_ONLY -> readPoint(context, 2) && readRadius(context, 4);
            case RADIUS_BY_MEMBER, RADIUS_BY_MEMBER_READ_ONLY ->
                !present || readMember(context, 2, set) && readRadius(context, 3);
        };
    }

    private @Nullable String wrong(CommandContext context) {
        if (storeArgument > 0 && details() > 0) {
            return "ERR " + (form == Form.SEARCH_STORE ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS")
                    + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options";
        }
        if (form.isSearch() && !fromMember && !fromPoint) {
            return "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + context.argumentString(0);
        }
        if (form.isSearch() && !byRadius && !byBox) {
            return "ERR exactly one of BYRADIUS and BYBOX can be specified for " + context.argumentString(0);
        }
        return any && count == 0 ? "ERR the ANY argument requires COUNT argument" : null;
    }

    /** @return number of arguments read; 0 after an error was replied */
    private int readOption(CommandContext context, int i, SortedSetValue set, boolean present) {
        int left = context.argumentCount() - i - 1;
        if (context.argumentIs(i, "WITHDIST")) {
            withDistance = true;
        } else if (context.argumentIs(i, "WITHHASH")) {
            withHash = true;
        } else if (context.argumentIs(i, "WITHCOORD")) {
            withCoordinates = true;
        } else if (context.argumentIs(i, "ANY")) {
            any = true;
        } else if (context.argumentIs(i, "ASC") || context.argumentIs(i, "DESC")) {
            sorted = true;
            descending = context.argumentIs(i, "DESC");
        } else if (context.argumentIs(i, "COUNT") && left >= 1) {
            return readCount(context, i + 1) ? 2 : 0;
        } else if (form.mayStore() && left >= 1
                && (context.argumentIs(i, "STORE") || context.argumentIs(i, "STOREDIST"))) {
            storesDistance = context.argumentIs(i, "STOREDIST");
            storeArgument = i + 1;
            return 2;
        } else if (form == Form.SEARCH_STORE && context.argumentIs(i, "STOREDIST")) {
            storesDistance = true;
        } else {
            return form.isSearch() ? readArea(context, i, left, set, present) : syntaxError(context);
        }
        return 1;
    }

    private int readArea(CommandContext context, int i, int left, SortedSetValue set, boolean present) {
        if (context.argumentIs(i, "FROMMEMBER") && left >= 1 && !fromPoint) {
            fromMember = true;
            return !present || readMember(context, i + 1, set) ? 2 : 0;
        }
        if (context.argumentIs(i, "FROMLONLAT") && left >= 2 && !fromMember) {
            fromPoint = true;
            return readPoint(context, i + 1) ? 3 : 0;
        }
        if (context.argumentIs(i, "BYRADIUS") && left >= 2 && !byBox) {
            byRadius = true;
            return readRadius(context, i + 1) ? 3 : 0;
        }
        if (context.argumentIs(i, "BYBOX") && left >= 3 && !byRadius) {
            byBox = true;
            return readBox(context, i + 1) ? 4 : 0;
        }
        return syntaxError(context);
    }

    private static int syntaxError(CommandContext context) {
        context.syntaxError();
        return 0;
    }

    private boolean readCount(CommandContext context, int argument) {
        if (!context.requireLong(argument)) {
            return false;
        }
        count = context.longValue();
        if (count <= 0) {
            context.reply().error("ERR COUNT must be > 0");
            return false;
        }
        return true;
    }

    private boolean readPoint(CommandContext context, int argument) {
        if (!GeoCommands.requirePlace(context, argument)) {
            return false;
        }
        longitude = GeoCommands.coordinate(context, argument);
        latitude = GeoCommands.coordinate(context, argument + 1);
        return true;
    }

    private boolean readMember(CommandContext context, int argument, SortedSetValue set) {
        if (!set.find(context.argumentAddress(argument), context.argumentLength(argument))) {
            context.reply().error("ERR could not decode requested zset member");
            return false;
        }
        long bits = GeoHash.bitsOf(set.score());
        longitude = GeoHash.longitude(bits);
        latitude = GeoHash.latitude(bits);
        return true;
    }

    private boolean readRadius(CommandContext context, int argument) {
        if (!context.requireDouble(argument, "ERR need numeric radius")) {
            return false;
        }
        radius = context.doubleValue();
        if (radius < 0) {
            context.reply().error("ERR radius cannot be negative");
            return false;
        }
        return readUnit(context, argument + 1);
    }

    private boolean readBox(CommandContext context, int argument) {
        if (!context.requireDouble(argument, "ERR need numeric width")) {
            return false;
        }
        width = context.doubleValue();
        if (!context.requireDouble(argument + 1, "ERR need numeric height")) {
            return false;
        }
        height = context.doubleValue();
        if (height < 0 || width < 0) {
            context.reply().error("ERR height or width cannot be negative");
            return false;
        }
        return readUnit(context, argument + 2);
    }

    private boolean readUnit(CommandContext context, int argument) {
        unit = GeoCommands.unit(context, argument);
        return unit >= 0;
    }

    // --- the result

    GeoArea area() {
        return area;
    }

    boolean withDistance() {
        return withDistance;
    }

    boolean withHash() {
        return withHash;
    }

    boolean withCoordinates() {
        return withCoordinates;
    }

    /** Number of details replied for each place beside its name. */
    int details() {
        return (withDistance ? 1 : 0) + (withHash ? 1 : 0) + (withCoordinates ? 1 : 0);
    }

    /** Whether the first places found are sufficient, instead of the nearest. */
    boolean any() {
        return any;
    }

    /** Whether the places are sorted by distance. */
    boolean sorted() {
        return sorted;
    }

    boolean descending() {
        return descending;
    }

    /** Maximum number of places; 0: all. */
    long count() {
        return count;
    }

    /** The argument with the destination key; 0 if the places are replied. */
    int storeArgument() {
        return storeArgument;
    }

    /** Whether the distances are stored as scores. */
    boolean storesDistance() {
        return storesDistance;
    }
}
