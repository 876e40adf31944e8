//! Names of what there are several kinds of.

/// Gives each kind its name, as it stands in JSON or in a plan.
macro_rules! named {
    ($(#[doc = $doc:literal])+ $seen:vis $type:ident { $($kind:ident: $name:literal),+ }) => {
        impl $type {
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
