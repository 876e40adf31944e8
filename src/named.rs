//! Names of what there are several kinds of.

/// Gives each kind its name, as it stands in JSON or in a plan, and lists all of them.
macro_rules! named {
    ($(#[doc = $doc:literal])+ $seen:vis $type:ident { $($kind:ident: $name:literal),+ }) => {
        impl $type {
            #[allow(dead_code, reason = "not every type is gone through")]
            pub(crate) const ALL: [$type; [$($type::$kind),+].len()] = [$($type::$kind),+];

            $(#[doc = $doc])+
            $seen fn name(self) -> &'static str {
                match self {
                    $($type::$kind => $name,)+
                }
            }
        }
    };
}
pub(crate) use named;
