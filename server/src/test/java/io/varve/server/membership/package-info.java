/** How a member obeys the controllers, with controllers that a test plays. */
@org.jspecify.annotations.NullMarked
package io.varve.server.membership;
